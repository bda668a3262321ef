import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantFromUs, US_PER_SECOND } from '../time/instant.ts'
import { longestRange } from './longest-range.ts'

const DAY = 86_400 * US_PER_SECOND
const RANGE = { from: instantFromUs(0), to: instantFromUs(374 * DAY) }

/**
 * The end that is found for a tag whose points begin some days behind the start of the range, and the tries it took.
 */
async function endOf(begin: number, shareOfDay: number): Promise<{ days: number; tries: number }> {
  let tries = 0
  const end = await longestRange(RANGE, async (to) => {
    tries++
    return Math.max(0, to / DAY - begin) * shareOfDay
  })
  return { days: end! / DAY, tries }
}

test('a range that is offered has a good part of the points that are allowed, wherever they begin', async () => {
  for (const begin of [0, 100, 300, 365, 370])
    for (const shareOfDay of [0.3, 0.5, 2, 10]) {
      const { days, tries } = await endOf(begin, shareOfDay)
      const taken = Math.max(0, days - begin) * shareOfDay
      assert.ok(taken <= 1 && taken > 0.3, `${taken} of what is allowed: ${begin}, ${shareOfDay}, ${days}`)
      assert.ok(tries <= 16)
    }
})

test('where points lie evenly a few tries are enough', async () => {
  for (const shareOfDay of [0.01, 0.1, 1]) assert.ok((await endOf(0, shareOfDay)).tries <= 5)
})
