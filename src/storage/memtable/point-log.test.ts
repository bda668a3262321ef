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

test('slabs that somebody has looked at until nothing was in memory any more are freed when they come back', () => {
  const pool = new SlabPool()
  const log = new PointLog(pool)
  log.add(makeColumns(1), 0, 1, NO_PLACE)
  log.pin()
  log.release(false)
  pool.giveBack([pool.take()], true)
  const released: { readonly slabs: number; readonly isLast: boolean }[] = []
  const giveBack = pool.giveBack.bind(pool)
  pool.giveBack = (slabs, isLast) => {
    released.push({ slabs: slabs.length, isLast })
    giveBack(slabs, isLast)
    assert.ok(slabs.every(({ doubles }) => doubles.length === 0))
  }
  log.unpin()
  assert.deepEqual(released, [{ slabs: 1, isLast: false }])
})

test('while somebody looks at points only those are copied that came after the first one that is taken away', () => {
  const log = new PointLog(new SlabPool())
  const points = makeColumns(10)
  for (let i = 0; i < 10; i++) points.times[i] = i
  const last = log.add(points, 0, 10, NO_PLACE)
  log.pin()
  assert.deepEqual(log.remove(last, 10, [{ from: -5, to: 0 }]), { last, count: 10 })
  assert.equal(log.add(points, 0, 1, NO_PLACE), last + 1, 'nothing was copied')
  const kept = log.remove(last, 10, [{ from: 6, to: 8 }])
  assert.deepEqual([...log.collect(kept.last, kept.count).times], [0, 1, 2, 3, 4, 5, 8, 9])
  assert.equal(kept.last, last + 3, 'two of them are copies')
  assert.deepEqual(log.remove(last, 10, [{ from: 0, to: 10 }]), { last: NO_PLACE, count: 0 })
  assert.deepEqual([...log.collect(last, 10).times], [...points.times])
  const later = log.remove(kept.last, kept.count, [{ from: 0, to: 1 }])
  assert.deepEqual([...log.collect(later.last, later.count).times], [1, 2, 3, 4, 5, 8, 9])
})
