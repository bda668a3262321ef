import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { STATUS_BAD } from '../series/columns.ts'
import { type Instant, instantFromUs } from '../time/instant.ts'
import { fillPlant, pointsOf } from './fill.ts'
import { PLANT, STEP_US } from './plant.ts'

const NOW = instantFromUs(Date.UTC(2026, 5, 1, 9, 0, 3) * 1000)
const STEP = Math.floor(NOW / STEP_US)
const DAY = 8640
const context = { signal: new AbortController().signal }

function columns(name: string, from: number, to: number) {
  return pointsOf(PLANT.find((tag) => tag.name === name)!, from, to).points
}

describe('the demo plant', () => {
  it('has 20 described tags with finite values, some of them stepped, and a few BAD points in a week', () => {
    assert.equal(PLANT.length, 20)
    assert.equal(new Set(PLANT.map(({ name }) => name)).size, 20)
    let bad = 0
    for (const tag of PLANT) {
      assert.ok(tag.metadata.description)
      assert.equal(tag.metadata.units === null, tag.metadata.stepped)
      const { values, statuses } = pointsOf(tag, STEP - 7 * DAY, STEP).points
      assert.ok(values.every(Number.isFinite))
      bad += statuses.filter((status) => status === STATUS_BAD).length
    }
    assert.ok(PLANT.some(({ metadata }) => metadata.stepped))
    assert.ok(bad > 5 && bad < 200, `${bad}`)
  })

  it('keeps its mass: the level changes by what flows in and out', () => {
    const from = STEP - DAY
    const level = columns('T101.LEVEL', from, STEP).values
    const inflow = columns('T101.INFLOW', from, STEP).values
    const outflow = columns('T101.OUTFLOW', from, STEP).values
    let volume = 0
    let worst = 0
    for (let at = 1; at < level.length; at++) {
      const net = (inflow[at - 1]! + inflow[at]! - outflow[at - 1]! - outflow[at]!) / 2
      volume += net / 360
      // Percent of 20 m3.
      worst = Math.max(worst, Math.abs(level[at]! - level[0]! - 5 * volume))
    }
    assert.ok(worst < 0.5, `${worst} %`)
  })

  it('pumps only while the pump runs, and stays within what its vessels hold', () => {
    const from = STEP - 7 * DAY
    const running = columns('P101.RUNNING', from, STEP).values
    const current = columns('P101.CURRENT', from, STEP).values
    for (const [at, on] of running.entries()) assert.equal(current[at]! > 5, on === 1)
    for (const name of ['T101.LEVEL', 'R201.LEVEL', 'R201.STEAM_VALVE']) {
      const { values } = columns(name, from, STEP)
      assert.ok(
        values.every((value) => value > -1 && value < 101),
        name,
      )
    }
  })

  it('is filled for a week, then only with what is missing, and is the same however it is filled', async () => {
    const historian = new MemoryHistorian('demo')
    const later = instantFromUs(NOW + 60 * 60 * 1_000_000)
    assert.equal(await fillPlant(historian, NOW, context), 20 * 7 * DAY)
    assert.equal(await fillPlant(historian, NOW, context), 0)
    assert.equal(await fillPlant(historian, later, context), 20 * 360)
    const query = {
      tag: 'R201.TEMP',
      from: instantFromUs(later - 7 * 86_400_000_000) as Instant,
      to: later,
      order: 'asc',
      limit: 100_000,
    } as const
    const [range] = await historian.readRanges([query], context)
    const end = Math.floor(later / STEP_US) + 1
    assert.deepEqual(range!.points.values, columns('R201.TEMP', end - 7 * DAY, end).values)
  })
})
