import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeColumns } from '../../series/columns.ts'
import { NO_PLACE, PointLog, SlabPool } from './point-log.ts'

const TAGS = 1_000
/** So many of each tag are more than two slabs. */
const ROUNDS = 140

const timeOf = (tag: number, round: number) => round * 1e6 - tag
const numberOf = (tag: number, round: number) => tag + round / 1_000
const statusOf = (tag: number, round: number) => ((tag + round) % 3 === 0 ? 1 : 0)

test('points of many tags in turn are those of each tag, with their statuses, over several slabs', () => {
  const pool = new SlabPool()
  // The second log takes the slabs of the first, which hold its points still.
  for (const shift of [0, 7]) {
    const log = new PointLog(pool)
    const last = new Int32Array(TAGS).fill(NO_PLACE)
    for (let round = 0; round < ROUNDS; round++) {
      for (let tag = 0; tag < TAGS; tag++) {
        const points = makeColumns(3)
        points.times.fill(timeOf(tag, round + shift), 1)
        points.values.fill(numberOf(tag, round + shift), 1)
        points.statuses.fill(statusOf(tag, round + shift), 1)
        last[tag] = log.add(points, 1, 2, last[tag]!)
      }
    }
    for (let tag = 0; tag < TAGS; tag++) {
      const { times, values, statuses } = log.collect(last[tag]!, ROUNDS)
      for (let round = 0; round < ROUNDS; round++) {
        assert.equal(times[round], timeOf(tag, round + shift))
        assert.equal(values[round], numberOf(tag, round + shift))
        assert.equal(statuses[round], statusOf(tag, round + shift))
      }
      const spans = [
        { from: timeOf(tag, shift + 2), to: timeOf(tag, shift + 9) },
        { from: timeOf(tag, shift + 11), to: timeOf(tag, shift + 12) },
      ]
      const gone = [2, 3, 4, 5, 6, 7, 8, 11]
      const rounds = Array.from({ length: ROUNDS }, (_, round) => round).filter(
        (round) => !gone.includes(round),
      )
      const kept = log.remove(last[tag]!, ROUNDS, spans)
      assert.equal(kept.count, ROUNDS - 8)
      const left = log.collect(kept.last, kept.count)
      assert.deepEqual(
        [...left.times],
        rounds.map((round) => timeOf(tag, round + shift)),
      )
      assert.deepEqual(
        [...left.statuses],
        rounds.map((round) => statusOf(tag, round + shift)),
      )
    }
    log.release(false)
  }
})

test('slabs are kept for the next generation, and freed at once when nothing is in memory any more', () => {
  const pool = new SlabPool(2)
  const slabs = [pool.take(), pool.take(), pool.take()]
  pool.giveBack(slabs, false)
  const isFreed = ({ doubles, links }: (typeof slabs)[number]) => doubles.length === 0 && links.length === 0
  assert.deepEqual(slabs.map(isFreed), [false, false, true])
  assert.ok(slabs.includes(pool.take()))
  pool.giveBack([slabs[1]!], true)
  assert.deepEqual(slabs.map(isFreed), [true, true, true])
})
