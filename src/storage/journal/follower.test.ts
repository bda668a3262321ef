import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { withWrongBit } from '../../../test/durability/damage.ts'
import { Heads } from '../heads/heads.ts'
import { JournalFollower } from './follower.ts'
import { type JournalFixture, openJournal, pointsRecord, type Row, removalRecord } from './journal.fixture.ts'
import type { JournalState } from './journal.ts'

const BEGINNING = { first: 1, epoch: 1, next: 0 }
const TAGS = [1, 2, 3]

type Points = Map<number, readonly [value: number, status: number]>

/**
 * A historian as plain as can be: the points that there are, those in blocks, and the journal. It folds tag by tag and removes
 * records as the real one does, so that a follower must add to the blocks just what they lack.
 */
class Plant {
  readonly #fixture: JournalFixture
  state: JournalState = BEGINNING
  readonly truth = new Map<number, Points>(TAGS.map((tag) => [tag, new Map()]))
  readonly blocks = new Map<number, Points>(TAGS.map((tag) => [tag, new Map()]))
  /** What the folding epoch holds, by tag: what is still to come into blocks. */
  #waiting = new Map<number, Points>()
  #active = new Map<number, Points>()

  constructor(fixture: JournalFixture) {
    this.#fixture = fixture
  }

  async write(tag: number, rows: readonly Row[]): Promise<void> {
    this.state = await this.#fixture.append(this.state, pointsRecord([tag, ...rows]))
    const active = this.#active.getOrInsertComputed(tag, () => new Map())
    for (const [time, value, status] of rows) {
      for (const points of [this.truth.get(tag)!, active]) points.set(time, [value, status ?? 0])
    }
  }

  /** Removing begins with folding the tag. */
  async remove(tag: number, from: number, to: number): Promise<void> {
    this.#intoBlocks(tag, this.#waiting)
    this.#intoBlocks(tag, this.#active)
    for (const points of [this.truth.get(tag)!, this.blocks.get(tag)!]) {
      for (const time of points.keys()) if (time >= from && time < to) points.delete(time)
    }
    this.state = await this.#fixture.append(this.state, removalRecord([tag, from, to]))
  }

  async seal(): Promise<void> {
    if (this.state.first < this.state.epoch) return
    this.#waiting = this.#active
    this.#active = new Map()
    this.state = await this.#fixture.putState({ ...this.state, epoch: this.state.epoch + 1, next: 0 })
  }

  fold(tag: number): void {
    this.#intoBlocks(tag, this.#waiting)
  }

  async endFolding(): Promise<void> {
    for (const tag of TAGS) this.fold(tag)
    this.state = await this.#fixture.putState({ ...this.state, first: this.state.epoch })
  }

  async removeRecords(limit: number): Promise<void> {
    this.#fixture.journal.removeFolded(this.#fixture.changes, this.state.first, limit)
    await this.#fixture.commit()
  }

  #intoBlocks(tag: number, from: Map<number, Points>): void {
    for (const [time, point] of from.get(tag) ?? []) this.blocks.get(tag)!.set(time, point)
    from.delete(tag)
  }

  /** What somebody sees who adds these points in memory to the blocks. */
  assertSeen(heads: Heads): void {
    for (const tag of TAGS) {
      const seen = new Map(this.blocks.get(tag))
      const head = heads.columns(tag)
      head?.times.forEach((time, at) => {
        seen.set(time, [head.values[at]!, head.statuses[at]!])
      })
      assert.deepEqual(sorted(seen), sorted(this.truth.get(tag)!), `tag ${tag}`)
    }
  }
}

const sorted = (points: Points) => [...points].sort(([a], [b]) => a - b)

const tag = fc.constantFrom(...TAGS)
const row = fc.tuple(
  fc.integer({ min: 0, max: 30 }),
  fc.integer({ min: 0, max: 9 }),
  fc.constantFrom(0, 0, 1),
) as fc.Arbitrary<Row>

type Command = (plant: Plant, follow: () => void) => Promise<void> | void

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(tag, fc.array(row, { minLength: 1, maxLength: 6 })).map(
      ([to, rows]): Command =>
        (plant) =>
          plant.write(to, rows),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(tag, fc.integer({ min: 0, max: 30 }), fc.constantFrom(3, 40)).map(
      ([of, from, width]): Command =>
        (plant) =>
          plant.remove(of, from, from + width),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Command>((plant) => plant.seal()) },
  {
    weight: 2,
    arbitrary: tag.map(
      (of): Command =>
        (plant) =>
          plant.fold(of),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Command>((plant) => plant.endFolding()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(1, 100).map(
      (limit): Command =>
        (plant) =>
          plant.removeRecords(limit),
    ),
  },
  { weight: 3, arbitrary: fc.constant<Command>((_plant, follow) => follow()) },
)

test('whenever a follower catches up, blocks and its points in memory make what was written', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 50 }), async (commands) => {
      const fixture = openJournal(t)
      const plant = new Plant(fixture)
      const heads = new Heads()
      const follower = new JournalFollower(fixture.journal, heads)
      const follow = () => {
        assert.deepEqual(follower.catchUp(), plant.state)
        plant.assertSeen(heads)
        // Whoever begins now sees the same.
        const others = new Heads()
        new JournalFollower(fixture.journal, others).catchUp()
        plant.assertSeen(others)
      }
      for (const act of commands) await act(plant, follow)
      follow()
      assert.equal(follower.damage, null)
    }),
    { numRuns: 40 },
  )
})

test('a newest point that is remembered is forgotten with epochs that were missed', async (t) => {
  const fixture = openJournal(t)
  const plant = new Plant(fixture)
  const heads = new Heads()
  const follower = new JournalFollower(fixture.journal, heads)
  follower.catchUp()
  heads.rememberNewest(1, Number.NEGATIVE_INFINITY, 0, 0)
  await plant.write(1, [[5, 50]])
  follower.catchUp()
  assert.equal(heads.get(1)!.newestValue, 50)
  await plant.write(1, [[6, 60]])
  await plant.seal()
  await plant.write(2, [[7, 70]])
  await plant.endFolding()
  await plant.seal()
  await plant.endFolding()
  await plant.removeRecords(100)
  follower.catchUp()
  assert.equal(heads.get(1)?.knowsNewest ?? false, false)
})

async function threeRecords(t: TestContext) {
  const fixture = openJournal(t)
  const rows: Row[] = [
    [1, 1],
    [2, 2],
    [3, 3],
  ]
  const state = await fixture.append(BEGINNING, ...rows.map((one) => pointsRecord([1, one])))
  const keys = [...fixture.store.getKeys({ start: Buffer.of(0, 0, 0, 1) })].map(
    (key) => new Uint8Array(key as Buffer),
  )
  return { ...fixture, state, keys }
}

/** What a new follower finds: the times of the points that it has, and its damage. */
function followed({ root, journal }: JournalFixture) {
  root.resetReadTxn()
  const heads = new Heads()
  const follower = new JournalFollower(journal, heads)
  follower.catchUp()
  return { times: [...(heads.columns(1)?.times ?? [])], damage: follower.damage?.message, follower, heads }
}

test('a damaged record is told, and the others are seen', async (t) => {
  const fixture = await threeRecords(t)
  const { root, store, keys } = fixture
  await root.transaction(() => store.put(keys[1]!, withWrongBit(store.get(keys[1]!)!, 30)))
  const { times, damage } = followed(fixture)
  assert.deepEqual(times, [1, 3])
  assert.match(damage!, /^journal record 1\.1: the checksum/)
})

test('a record that is gone is told, be it the first, one in between or the last', async (t) => {
  for (const gone of [0, 1, 2]) {
    const fixture = await threeRecords(t)
    const { root, store, keys } = fixture
    await root.transaction(() => store.remove(keys[gone]!))
    const { times, damage } = followed(fixture)
    assert.deepEqual(
      times,
      [1, 2, 3].filter((time) => time !== gone + 1),
    )
    assert.equal(damage, `journal record 1.${gone}: it is missing`)
  }
})

test('without a state that can be read all records are seen, and the damage is told', async (t) => {
  const fixture = await threeRecords(t)
  const { root, store } = fixture
  await fixture.append({ first: 2, epoch: 3, next: 0 }, pointsRecord([1, [2, 20]]), pointsRecord([1, [9, 9]]))
  const key = new Uint8Array(8)
  await root.transaction(() => store.put(key, withWrongBit(store.get(key)!, 5)))
  const { times, damage, heads } = followed(fixture)
  assert.deepEqual(times, [1, 2, 3, 9])
  assert.deepEqual([...heads.columns(1)!.values], [1, 20, 3, 9])
  assert.match(damage!, /state of the journal/)
  await root.transaction(() => store.remove(key))
  assert.equal(followed(fixture).damage, 'the state of the journal does not fit its records')
  assert.deepEqual(followed(fixture).times, [1, 2, 3, 9])
})

test('damage that another process got over is not told any more', async (t) => {
  const fixture = await threeRecords(t)
  const { root, store, keys, journal, state } = fixture
  const heads = new Heads()
  const follower = new JournalFollower(journal, heads)
  await root.transaction(() => store.put(keys[0]!, withWrongBit(store.get(keys[0]!)!, 30)))
  follower.catchUp()
  assert.match(follower.damage!.message, /1\.0/)
  // The owner had it in memory before, and folds it.
  await fixture.putState({ ...state, epoch: 2, next: 0 })
  follower.catchUp()
  assert.match(follower.damage!.message, /1\.0/)
  await fixture.putState({ first: 2, epoch: 2, next: 0 })
  follower.catchUp()
  assert.equal(follower.damage, null)
})

test('a follower lets go of points that were folded while it saw neither that nor what came since', async (t) => {
  const fixture = openJournal(t)
  const heads = new Heads()
  const follower = new JournalFollower(fixture.journal, heads)
  const look = () => {
    fixture.root.resetReadTxn()
    follower.catchUp()
  }
  let state = await fixture.append(BEGINNING, pointsRecord([1, [1, 1]]))
  state = await fixture.putState({ ...state, epoch: 2, next: 0 })
  state = await fixture.append(state, pointsRecord([2, [1, 1]]))
  look()
  assert.deepEqual([...heads.foldingTags], [1])
  state = await fixture.putState({ ...state, first: 2 })
  await fixture.append(state, pointsRecord([2, [2, 2]]))
  look()
  assert.equal(heads.columns(1), null)
  assert.deepEqual([...heads.columns(2)!.times], [1, 2])
})
