import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { withWrongBit } from '../../test/durability/damage.ts'
import type { PointColumns } from '../series/columns.ts'
import { MAX_BLOCK_POINTS } from './block.ts'
import { Folder, type FoldLimits, type FoldStep } from './folder.ts'
import { Heads } from './heads/heads.ts'
import { JournalFollower } from './journal/follower.ts'
import {
  type JournalFixture,
  openJournal,
  pointsRecord,
  type Row,
  removalRecord,
} from './journal/journal.fixture.ts'
import type { JournalState } from './journal/journal.ts'
import type { JournalRecord } from './journal/record.ts'
import { Snapshot } from './snapshot.ts'
import { StoredBlocks } from './tag-blocks.ts'

const { signal } = new AbortController()
const BEGINNING = { first: 1, epoch: 1, next: 0 }
/** Whatever is in memory is folded when it is wanted, and not before. */
const NEVER_FULL: FoldLimits = { points: 1e9, records: 1e9, ageMs: 1e9 }

const ramp = (count: number, from = 0, value = 1): Row[] =>
  Array.from({ length: count }, (_, at): Row => [from + at, value])

/** A folder over a journal, driven step by step. */
class Bench {
  readonly fixture: JournalFixture
  readonly heads = new Heads()
  readonly folder: Folder
  state: JournalState = BEGINNING

  constructor(t: TestContext, limits = NEVER_FULL) {
    this.fixture = openJournal(t)
    this.folder = new Folder(this.heads, this.fixture.journal, this.fixture.access, limits)
  }

  async write(...records: readonly JournalRecord[]): Promise<void> {
    this.state = await this.fixture.append(this.state, ...records)
    for (const record of records) this.heads.apply(record)
  }

  plan(points = 1e9): FoldStep | null {
    return this.folder.plan(this.fixture.changes, this.state, new Snapshot(this.fixture.root, signal), points)
  }

  /** Makes one step; false when there was nothing to do. */
  async step(points?: number): Promise<boolean> {
    const step = this.plan(points)
    if (step === null) return false
    await this.fixture.commit()
    this.state = step.state
    step.done()
    return true
  }

  /** Makes steps until an epoch is sealed. */
  async seal(): Promise<void> {
    this.folder.want()
    while (!this.folder.isFolding(this.state)) assert.ok(await this.step())
  }

  /** Makes steps until nothing is left to do; gives how many. */
  async finish(points?: number): Promise<number> {
    let steps = 0
    for (; this.folder.isDue(this.state); steps++) {
      assert.ok(steps < 1_000)
      await this.step(points)
    }
    return steps
  }

  /** The times of a tag's points that stand in blocks. */
  stored(tag: number): number[] {
    const blocks = new StoredBlocks(this.fixture.access, { options: undefined }, tag)
    const times: number[] = []
    let at = Number.MIN_SAFE_INTEGER
    while (blocks.seekAfter(at)) {
      times.push(...blocks.view.columns().times)
      at = blocks.view.lastTime + 1
    }
    return times
  }

  inMemory(tag: number): number[] {
    return [...(this.heads.columns(tag)?.times ?? [])]
  }

  records(): string[] {
    const places: string[] = []
    this.fixture.journal.eachFrom({ epoch: 1, number: 0 }, (_record, { epoch, number }) =>
      places.push(`${epoch}.${number}`),
    )
    return places
  }

  /** What a process that starts now has in memory. */
  restarted(): Heads {
    const heads = new Heads()
    const follower = new JournalFollower(this.fixture.journal, heads)
    assert.deepEqual(follower.catchUp(), this.state)
    assert.equal(follower.damage, null)
    return heads
  }

  /** Turns over a bit in the newest block of a tag. */
  async damage(tag: number): Promise<void> {
    const { access, root } = this.fixture
    const [key] = [...access.points.getKeys({ reverse: true, start: tagEnd(tag), limit: 1 })]
    const copy = new Uint8Array(key as Uint8Array)
    const value = access.points.get(copy)!
    const bytes = new Uint8Array(value.subarray(0, value.length))
    await root.transaction(() => access.points.put(copy, withWrongBit(bytes, bytes.length - 1)))
    access.verified.clear()
    root.resetReadTxn()
  }
}

const tagEnd = (tag: number) =>
  Buffer.concat([Buffer.from(Uint32Array.of(tag).buffer).reverse(), Buffer.alloc(8, 0xff)])

const valuesOf = ({ times, values }: PointColumns) => Array.from(times, (time, at) => [time, values[at]!])

test('points go from the journal into blocks, and then their records go', async (t) => {
  const bench = new Bench(t)
  await bench.write(pointsRecord([1, ...ramp(10)], [2, ...ramp(3)]), pointsRecord([1, [4, 9]]))
  await bench.finish()
  assert.deepEqual(bench.records(), ['1.0', '1.1'])
  bench.folder.want()
  await bench.finish()
  assert.deepEqual(bench.state, { first: 2, epoch: 2, next: 0 })
  assert.deepEqual(bench.records(), [])
  assert.deepEqual([bench.inMemory(1), bench.inMemory(2)], [[], []])
  assert.deepEqual(bench.stored(1), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.deepEqual(bench.stored(2), [0, 1, 2])
})

test('a step that is planned and whose commit fails changes nothing', async (t) => {
  const bench = new Bench(t)
  await bench.write(pointsRecord([1, ...ramp(10)], [2, ...ramp(2 * MAX_BLOCK_POINTS)], [3, ...ramp(5)]))
  await bench.write(removalRecord([3, 0, 2]))
  bench.folder.want()
  for (let steps = 0; bench.folder.isDue(bench.state); steps++) {
    assert.ok(steps < 100)
    const before = {
      state: bench.state,
      memory: [1, 2, 3].map((tag) => bench.inMemory(tag)),
      folding: [...bench.heads.foldingTags],
      active: [...bench.heads.activeTags],
    }
    for (const points of [1, 1e9]) {
      assert.notEqual(bench.plan(points), null)
      bench.fixture.changes.reset()
    }
    assert.deepEqual(bench.fixture.journal.state(), before.state)
    assert.deepEqual(
      [1, 2, 3].map((tag) => bench.inMemory(tag)),
      before.memory,
    )
    assert.deepEqual([...bench.heads.foldingTags], before.folding)
    assert.deepEqual([...bench.heads.activeTags], before.active)
    await bench.step()
  }
  assert.deepEqual(bench.stored(1).length, 10)
  assert.deepEqual(bench.stored(2).length, 2 * MAX_BLOCK_POINTS)
  assert.deepEqual(bench.stored(3), [2, 3, 4])
  assert.deepEqual(bench.records(), [])
})

test('points of a tag that has many go in parts, and none is missing at any time', async (t) => {
  const bench = new Bench(t)
  const count = 3 * MAX_BLOCK_POINTS + 1
  await bench.write(pointsRecord([1, ...ramp(count)], [2, ...ramp(1)]))
  await bench.seal()
  const sizes: number[] = []
  while (bench.folder.isFolding(bench.state)) {
    await bench.step(1)
    sizes.push(bench.stored(1).length)
    assert.deepEqual(
      [...bench.stored(1), ...bench.inMemory(1)],
      ramp(count).map(([time]) => time),
    )
    // A process that starts at this moment has all of the epoch in memory again.
    const seen = new Set([...bench.stored(1), ...(bench.restarted().columns(1)?.times ?? [])])
    assert.equal(seen.size, count)
  }
  assert.deepEqual(
    sizes.slice(0, 4),
    [1, 2, 3, 4].map((parts) => Math.min(count, parts * MAX_BLOCK_POINTS)),
  )
})

test('what arrives while an epoch is folded waits for the next, also over the same times', async (t) => {
  const bench = new Bench(t)
  await bench.write(pointsRecord([1, ...ramp(5)]))
  await bench.seal()
  await bench.write(pointsRecord([1, [2, 77], [9, 9]]))
  assert.deepEqual(bench.records(), ['1.0', '2.0'])
  while (bench.folder.isFolding(bench.state)) await bench.step()
  assert.deepEqual(bench.state, { first: 2, epoch: 2, next: 1 })
  assert.deepEqual(bench.stored(1), [0, 1, 2, 3, 4])
  assert.deepEqual(valuesOf(bench.heads.columns(1)!), [
    [2, 77],
    [9, 9],
  ])
  assert.deepEqual(valuesOf(bench.restarted().columns(1)!), [
    [2, 77],
    [9, 9],
  ])
})

test('an epoch whose folding was cut off is folded on', async (t) => {
  const bench = new Bench(t)
  await bench.write(...[1, 2, 3, 4].map((tag) => pointsRecord([tag, ...ramp(5)])))
  await bench.seal()
  await bench.step(1)
  await bench.write(pointsRecord([2, [3, 33]]))
  const heads = bench.restarted()
  const folder = new Folder(heads, bench.fixture.journal, bench.fixture.access, NEVER_FULL)
  folder.resume()
  let { state } = bench
  while (folder.isFolding(state)) {
    const step = folder.plan(bench.fixture.changes, state, new Snapshot(bench.fixture.root, signal), 1)!
    await bench.fixture.commit()
    state = step.state
    step.done()
  }
  assert.deepEqual(state, { first: 2, epoch: 2, next: 1 })
  for (const tag of [1, 2, 3, 4]) assert.deepEqual(bench.stored(tag), [0, 1, 2, 3, 4])
  assert.deepEqual(valuesOf(heads.columns(2)!), [[3, 33]])
})

test('an epoch is full by its points, by its records, or when it is wanted', async (t) => {
  const byPoints = new Bench(t, { ...NEVER_FULL, points: 10 })
  await byPoints.write(pointsRecord([1, ...ramp(9)]))
  await byPoints.finish()
  assert.equal(byPoints.records().length, 1)
  await byPoints.write(pointsRecord([1, [20, 1]]))
  await byPoints.finish()
  assert.equal(byPoints.records().length, 0)

  const byRecords = new Bench(t, { ...NEVER_FULL, records: 3 })
  await byRecords.write(pointsRecord([1, [1, 1]]), pointsRecord([1, [2, 1]]))
  await byRecords.finish()
  assert.equal(byRecords.records().length, 2)
  await byRecords.write(pointsRecord([1, [3, 1]]))
  await byRecords.finish()
  assert.equal(byRecords.records().length, 0)
})

test('records of folded epochs go although the next epoch is always full already', async (t) => {
  const bench = new Bench(t, { ...NEVER_FULL, points: 10 })
  for (let round = 0; round < 5; round++) {
    await bench.write(pointsRecord([1, ...ramp(10, round * 10)]))
    while (!bench.folder.isFolding(bench.state)) await bench.step()
    await bench.write(pointsRecord([1, ...ramp(10, 1_000 + round * 10)]))
    while (bench.folder.isFolding(bench.state)) await bench.step()
    assert.ok(bench.records().length <= 3, bench.records().join(' '))
  }
})

test('the more points wait the longer a step may take, and it folds all that it was asked for', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now++)
  const points = 100
  const tags = Array.from({ length: points }, (_, i) => i + 1)
  const foldedBeside = async (epochs: number) => {
    const bench = new Bench(t, { ...NEVER_FULL, points })
    await bench.write(pointsRecord(...tags.map((tag) => [tag, [0, 1]] as const)))
    await bench.seal()
    await bench.write(pointsRecord([points + 1, ...ramp(points * epochs)]))
    await bench.step(90)
    return points - bench.heads.foldingTags.size
  }
  const beside = []
  for (const epochs of [0, 1, 2, 5]) beside.push(await foldedBeside(epochs))
  assert.equal(beside[0], beside[1])
  assert.ok(beside[0]! < beside[2]!, beside.join(' '))
  assert.equal(beside[3], 90)
})

test('records that leave nothing to fold are removed, too', async (t) => {
  const bench = new Bench(t, { ...NEVER_FULL, records: 3 })
  await bench.write(removalRecord([1, 0, 5]), removalRecord([2, 0, 5]), removalRecord([3, 0, 5]))
  await bench.finish()
  assert.deepEqual(bench.records(), [])
  assert.deepEqual(bench.state, { first: 2, epoch: 2, next: 0 })
})

test('many records are removed over several steps, oldest first', async (t) => {
  const bench = new Bench(t)
  await bench.write(...Array.from({ length: 2_500 }, (_, at) => pointsRecord([1, [at, at]])))
  await bench.seal()
  while (bench.folder.isFolding(bench.state)) await bench.step()
  assert.equal(bench.stored(1).length, 2_500)
  const left: string[][] = []
  while (bench.folder.isDue(bench.state)) {
    left.push(bench.records())
    await bench.step()
  }
  assert.deepEqual(
    left.map((places) => [places[0], places.length]),
    [
      ['1.0', 2_500],
      ['1.1000', 1_500],
      ['1.2000', 500],
    ],
  )
  assert.deepEqual(bench.records(), [])
})

test('points of a tag whose blocks are damaged stay in the journal, and others are folded', async (t) => {
  const bench = new Bench(t)
  await bench.write(pointsRecord([1, ...ramp(5)], [2, ...ramp(5)]))
  bench.folder.want()
  await bench.finish()
  await bench.damage(1)

  await bench.write(pointsRecord([1, [3, 33], [7, 7]], [2, [7, 7]]))
  await bench.seal()
  await bench.write(pointsRecord([1, [8, 8]]))
  while (bench.folder.isFolding(bench.state)) await bench.step()
  assert.deepEqual([...bench.folder.damaged.keys()], [1])
  assert.deepEqual(bench.stored(2), [0, 1, 2, 3, 4, 7])
  const kept = [
    [3, 33],
    [7, 7],
    [8, 8],
  ]
  assert.deepEqual(valuesOf(bench.heads.columns(1)!), kept)
  assert.deepEqual([...bench.heads.activeTags], [1])
  // Also when the records of the folded epoch are gone and another process starts.
  await bench.finish()
  assert.deepEqual(bench.records(), ['3.0', '3.1'])
  assert.deepEqual(valuesOf(bench.restarted().columns(1)!), kept)
})

test('all that is in memory of a tag can be folded at once', async (t) => {
  const bench = new Bench(t)
  await bench.write(pointsRecord([1, ...ramp(5)], [2, ...ramp(5)]))
  await bench.seal()
  await bench.write(pointsRecord([1, [2, 22], [9, 9]]))
  const snapshot = new Snapshot(bench.fixture.root, signal)
  const done = await bench.folder.planWhole(bench.fixture.changes, snapshot, [1, 3], 'throw')
  assert.deepEqual(bench.inMemory(1), [0, 1, 2, 3, 4, 9])
  await bench.fixture.commit()
  done()
  assert.deepEqual(bench.inMemory(1), [])
  assert.deepEqual(bench.stored(1), [0, 1, 2, 3, 4, 9])
  assert.deepEqual(bench.inMemory(2), [0, 1, 2, 3, 4])
  // The journal still has it; folding it again makes no difference.
  await bench.finish()
  assert.deepEqual(bench.stored(1), [0, 1, 2, 3, 4, 9])
  assert.deepEqual(bench.stored(2), [0, 1, 2, 3, 4])
})

test('folding tags whose blocks are damaged at once fails or leaves them out', async (t) => {
  const bench = new Bench(t)
  await bench.write(pointsRecord([1, ...ramp(5)], [2, ...ramp(5)]))
  bench.folder.want()
  await bench.finish()
  await bench.damage(1)
  await bench.write(pointsRecord([1, [3, 33]], [2, [3, 33]]))
  const snapshot = new Snapshot(bench.fixture.root, signal)
  const whole = (damage: 'throw' | 'leave-out') =>
    bench.folder.planWhole(bench.fixture.changes, snapshot, [1, 2], damage)
  await assert.rejects(whole('throw'), /checksum/)
  bench.fixture.changes.reset()
  assert.deepEqual(bench.inMemory(2), [3])
  const done = await whole('leave-out')
  await bench.fixture.commit()
  done()
  assert.deepEqual([bench.inMemory(1), bench.inMemory(2)], [[3], []])
})

test('a damaged tag that loses all its points is damaged no more', async (t) => {
  const bench = new Bench(t)
  await bench.write(pointsRecord([1, ...ramp(40)]))
  bench.folder.want()
  await bench.finish()
  await bench.damage(1)
  await bench.write(pointsRecord([1, ...ramp(40, 100)]))
  bench.folder.want()
  await bench.finish()
  assert.deepEqual([...bench.folder.damaged.keys()], [1])
  const removed = (from: number, to: number) => {
    const record = removalRecord([1, from, to])
    assert.ok(record.kind === 'removal')
    bench.folder.removed(record)
  }
  removed(0, Number.POSITIVE_INFINITY)
  assert.equal(bench.folder.damaged.size, 1)
  removed(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  assert.equal(bench.folder.damaged.size, 0)
})
