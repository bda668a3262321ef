import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { pointsRecord, type Row, removalRecord } from '../journal/journal.fixture.ts'
import { Head, MOST_IN_CELLS } from './head.ts'
import { Heads } from './heads.ts'
import { HeadMemory, LongMemory } from './long-memory.ts'

const TAGS = [1, 2]

/** Points by time, as plain as can be. */
type Points = Map<number, readonly [value: number, status: number]>

/** What heads must hold: the points of each epoch, and those that stand in blocks, by tag. */
class Model {
  readonly folding = new Map<number, Points>()
  readonly active = new Map<number, Points>()
  readonly blocks = new Map<number, Points>(TAGS.map((tag) => [tag, new Map()]))

  memory(tag: number): Points {
    return new Map([...(this.folding.get(tag) ?? []), ...(this.active.get(tag) ?? [])])
  }

  newest(tag: number): readonly [time: number, value: number, status: number] | null {
    const [last] = [...new Map([...this.blocks.get(tag)!, ...this.memory(tag)])].sort(([a], [b]) => b - a)
    return last === undefined ? null : [last[0], ...last[1]]
  }

  /** Moves points of an epoch up to a time into blocks. */
  intoBlocks(epoch: 'folding' | 'active', tag: number, until = Number.POSITIVE_INFINITY): void {
    const points = this[epoch].get(tag)
    for (const [time, point] of points ?? []) {
      if (time > until) continue
      this.blocks.get(tag)!.set(time, point)
      points!.delete(time)
    }
    if (until === Number.POSITIVE_INFINITY) this[epoch].delete(tag)
  }
}

const rowsOf = ({ times, values, statuses }: PointColumns) =>
  Array.from(times, (time, at) => [time, values[at]!, statuses[at]!])

const rowsIn = (points: Points) =>
  [...points].sort(([a], [b]) => a - b).map(([time, point]) => [time, ...point])

class World {
  readonly heads = new Heads()
  readonly model = new Model()
  readonly #given: { readonly columns: PointColumns; readonly rows: readonly (readonly number[])[] }[] = []

  look(): void {
    const { heads, model } = this
    for (const tag of TAGS) {
      const columns = heads.columns(tag)
      const expected = rowsIn(model.memory(tag))
      if (columns === null) assert.deepEqual(expected, [])
      else {
        assert.deepEqual(rowsOf(columns), expected)
        this.#given.push({ columns, rows: expected })
      }
      const head = heads.get(tag)
      if (!head?.knowsNewest) continue
      const newest = model.newest(tag)
      assert.equal(head.newestTime, newest?.[0] ?? Number.NEGATIVE_INFINITY)
      if (newest !== null) assert.deepEqual([head.newestValue, head.newestStatus], newest.slice(1))
    }
    assert.deepEqual([...heads.activeTags].sort(), [...model.active.keys()].sort())
    assert.deepEqual([...heads.foldingTags].sort(), [...model.folding.keys()].sort())
  }

  /** Whatever was given out at any time is as it was. */
  assertUnchanged(): void {
    for (const { columns, rows } of this.#given) assert.deepEqual(rowsOf(columns), rows)
  }
}

type Command = (world: World) => void

const tag = fc.constantFrom(...TAGS)
const rows = fc.array(
  fc.tuple(
    fc.integer({ min: 0, max: 60 }),
    fc.constantFrom(1, 2.5, -0, 1e300),
    fc.constantFrom(0, 0, 0, 1),
  ) as fc.Arbitrary<Row>,
  { minLength: 1, maxLength: 30 },
)

const add: (points: fc.Arbitrary<Row[]>) => fc.Arbitrary<Command> = (points) =>
  fc.tuple(tag, points).map(
    ([to, some]): Command =>
      ({ heads, model }) => {
        heads.apply(pointsRecord([to, ...some]))
        const active = model.active.getOrInsertComputed(to, () => new Map())
        for (const [time, value, status] of some) active.set(time, [value, status ?? 0])
      },
  )

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: add(rows) },
  { weight: 5, arbitrary: add(rows.map((some) => some.toSorted(([a], [b]) => a - b))) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(tag, fc.integer({ min: -5, max: 60 }), fc.constantFrom(1, 7, Number.POSITIVE_INFINITY))
      .map(
        ([of, from, width]): Command =>
          ({ heads, model }) => {
            const to = from + width
            heads.apply(removalRecord([of, from, to]))
            for (const points of [model.folding, model.active, model.blocks]) {
              for (const time of points.get(of)?.keys() ?? []) {
                if (time >= from && time < to) points.get(of)!.delete(time)
              }
            }
          },
      ),
  },
  {
    weight: 3,
    arbitrary: fc.constant<Command>(({ heads, model }) => {
      if (heads.foldingTags.size > 0) return
      heads.seal()
      for (const [sealed, points] of model.active) model.folding.set(sealed, points)
      model.active.clear()
    }),
  },
  {
    weight: 2,
    arbitrary: tag.map(
      (of): Command =>
        ({ heads, model }) => {
          heads.dropFolding(of)
          model.intoBlocks('folding', of)
        },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(tag, fc.integer({ min: 0, max: 60 })).map(
      ([of, until]): Command =>
        ({ heads, model }) => {
          heads.dropFoldingUntil(of, until)
          model.intoBlocks('folding', of, until)
        },
    ),
  },
  {
    weight: 1,
    arbitrary: tag.map(
      (of): Command =>
        ({ heads, model }) => {
          heads.dropAll(of)
          model.intoBlocks('folding', of)
          model.intoBlocks('active', of)
        },
    ),
  },
  {
    weight: 1,
    arbitrary: tag.map(
      (of): Command =>
        ({ heads, model }) => {
          heads.takeBack(of)
          if (!model.folding.has(of)) return
          model.active.set(of, model.memory(of))
          model.folding.delete(of)
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Command>(({ heads, model }) => {
      heads.endFolding()
      for (const of of TAGS) model.intoBlocks('folding', of)
    }),
  },
  {
    weight: 3,
    arbitrary: tag.map(
      (of): Command =>
        ({ heads, model }) => {
          const [time, value, status] = model.newest(of) ?? [Number.NEGATIVE_INFINITY, 0, 0]
          heads.rememberNewest(of, time, value, status)
        },
    ),
  },
  { weight: 4, arbitrary: fc.constant<Command>((world) => world.look()) },
)

test('heads hold what a map of points would, whatever comes in what order, and never change what they gave out', () => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 5, maxLength: 60 }), (commands) => {
      const world = new World()
      for (const act of commands) act(world)
      world.look()
      world.assertUnchanged()
    }),
    { numRuns: 400 },
  )
})

test('a long run of points in order stays as it is while others are late, replace and follow', () => {
  const heads = new Heads()
  const record = (from: number, count: number, step: number, value: number) =>
    heads.apply(
      pointsRecord([1, ...Array.from({ length: count }, (_, at): Row => [from + at * step, value])]),
    )
  record(0, 5_000, 2, 1)
  const first = heads.columns(1)!
  record(10_000, 5_000, 2, 2)
  record(1, 3_000, 2, 3)
  const second = heads.columns(1)!
  record(0, 1, 1, 4)
  assert.equal(heads.columns(1)!.values[0], 4)
  assert.equal(heads.columns(1)!.times.length, 13_000)
  assert.ok(first.times.length === 5_000 && first.values.every((value) => value === 1))
  assert.equal(second.values[0], 1)
  assert.ok(second.times.every((time, at) => at === 0 || time > second.times[at - 1]!))
})

/** Points from index start to end of columns, as rows. */
const part = (points: PointColumns, start: number, end: number) => rowsOf(points).slice(start, end)

function columnsOf(...rows: readonly Row[]): PointColumns {
  const record = pointsRecord([1, ...rows])
  assert.ok(record.kind === 'points')
  return record.points
}

test('a head holds the same points whether they are few or many', () => {
  const around = fc.integer({ min: MOST_IN_CELLS - 20, max: MOST_IN_CELLS + 20 })
  fc.assert(
    fc.property(
      fc.oneof(around, fc.integer({ min: 1, max: 40 })),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 0, max: MOST_IN_CELLS }),
      fc.boolean(),
      (length, additions, dropped, withSpace) => {
        const memory = new HeadMemory()
        const head = new Head(memory)
        const space = withSpace ? makeColumns(MOST_IN_CELLS) : undefined
        const look = () => rowsOf(space === undefined ? head.columns() : head.lend(space))
        const total = additions.reduce((sum, count) => sum + count, length)
        const all = columnsOf(
          ...Array.from({ length: total }, (_, at): Row => [at * 3, at / 7, at % 5 === 0 ? 1 : 0]),
        )
        let end = 0
        for (const count of [length, ...additions]) {
          head.add(all, end, end + count)
          end += count
          assert.deepEqual(look(), part(all, 0, end))
        }
        head.dropUntil(dropped)
        const start = Math.min(total, Math.floor(dropped / 3) + 1)
        assert.deepEqual(look(), part(all, start, total))
        head.remove(all.times[total - 1]!, Number.POSITIVE_INFINITY)
        assert.deepEqual(look(), part(all, start, total - 1))
        head.release()
        assert.equal(memory.cells.used, 0)
      },
    ),
    { numRuns: 60 },
  )
})

test('what was dropped stays dropped when a late point is merged in afterwards', () => {
  const head = new Head(new HeadMemory())
  head.add(columnsOf([1, 1], [2, 2], [3, 3], [4, 4], [5, 5]), 0, 5)
  head.dropUntil(2)
  head.add(columnsOf([4, 44]), 0, 1)
  head.dropUntil(3)
  assert.deepEqual(rowsOf(head.columns()), rowsOf(columnsOf([4, 44], [5, 5])))
})

test('late points that are looked at one by one use no memory that only comes free with their epoch', () => {
  const memory = new HeadMemory()
  const { cells } = memory
  const head = new Head(memory)
  const add = (time: number, value: number) => head.add(columnsOf([time, value]), 0, 1)
  for (let time = 0; time < 100; time++) add(time, 0)
  const { used } = cells
  for (let round = 1; round <= 1_000; round++) {
    add(50, round)
    assert.equal(head.columns().values[50], round)
  }
  assert.equal(cells.used, used)
})

test('many points stay as they were given out while their memory would be of use to others', () => {
  const heads = new Heads()
  const long = (epoch: number, from: number, length: number) => {
    const columns = makeColumns(length)
    for (let at = 0; at < length; at++) {
      columns.times[at] = epoch * 100_000 + from + at
      columns.values[at] = epoch + at / 7
    }
    return columns
  }
  const given: (readonly [columns: PointColumns, then: readonly Float64Array[]])[] = []
  for (let epoch = 0; epoch < 8; epoch++) {
    for (const [from, length] of [
      [0, 20_000],
      [20_000, 50_000],
    ] as const) {
      const points = long(epoch, from, length)
      heads.addPoints({ tags: Uint32Array.of(1), offsets: Uint32Array.of(0, length), points })
      // Not each time: memory that nobody has seen is used again.
      if ((epoch + from / 20_000) % 3 !== 0) continue
      const columns = heads.columns(1)!
      given.push([columns, [columns.times.slice(), columns.values.slice()]])
    }
    heads.dropFolding(1)
    heads.endFolding()
    heads.seal()
    const lent = heads.get(1)!.folding!.lend()
    assert.equal(lent.times.length, 70_000)
    assert.deepEqual(lent.values.subarray(20_000), long(epoch, 20_000, 50_000).values)
  }
  assert.ok(given.length > 4)
  for (const [{ times, values }, [timesThen, valuesThen]] of given) {
    assert.ok(times.every((time, at) => time === timesThen![at]))
    assert.ok(values.every((value, at) => value === valuesThen![at]))
  }
})

test('memory of many points is taken by the next epoch, unless somebody may look at it', () => {
  const memory = new HeadMemory()
  const points = columnsOf(...Array.from({ length: 50_000 }, (_, at): Row => [at, at]))
  const head = new Head(memory)
  head.add(points, 0, 50_000)
  const first = head.lend()
  head.release()
  head.add(points, 0, 50_000)
  assert.ok(head.lend().times.buffer === first.times.buffer)
  const { buffer } = head.columns().times
  head.release()
  head.add(points, 0, 50_000)
  assert.ok(head.lend().times.buffer !== buffer)
})

test('memory of many points that nobody takes for two epochs is let go of', () => {
  const memory = new LongMemory()
  memory.giveBack(memory.take(50_000))
  memory.giveBack(memory.take(1_000))
  const { kept } = memory
  assert.equal(kept, 2 * 65_536)
  memory.trim()
  assert.equal(memory.kept, kept)
  memory.giveBack(memory.take(60_000))
  memory.trim()
  assert.equal(memory.kept, kept)
  memory.trim()
  assert.equal(memory.kept, 0)
})

test('what comes free of one epoch is taken by the next one', () => {
  const heads = new Heads()
  const write = (from: number) => {
    for (let tag = 1; tag <= 1_000; tag++) {
      heads.apply(pointsRecord([tag, ...Array.from({ length: 20 }, (_, at): Row => [from + at, tag])]))
    }
  }
  write(0)
  const { bytes } = heads
  for (let epoch = 1; epoch < 5; epoch++) {
    heads.seal()
    for (let tag = 1; tag <= 1_000; tag++) heads.dropFolding(tag)
    heads.endFolding()
    write(epoch * 100)
    assert.equal(heads.bytes, bytes)
  }
  heads.seal()
  heads.endFolding()
  assert.equal(heads.bytes, 0)
})

test('clearing forgets all', () => {
  const heads = new Heads()
  heads.apply(pointsRecord([1, [1, 1]]))
  heads.seal()
  heads.apply(pointsRecord([1, [2, 2]]))
  heads.rememberNewest(2, 5, 5, 0)
  heads.clear()
  assert.equal(heads.columns(1), null)
  assert.equal(heads.get(2), undefined)
  assert.deepEqual([heads.activePoints, heads.foldingPoints], [0, 0])
  assert.deepEqual([heads.activeTags.size, heads.foldingTags.size], [0, 0])
})

test('points that arrived are counted until they stand in blocks', () => {
  const heads = new Heads()
  heads.apply(pointsRecord([1, [1, 1], [1, 2]], [2, [1, 1]]))
  assert.equal(heads.activePoints, 3)
  heads.seal()
  assert.deepEqual([heads.activePoints, heads.foldingPoints], [0, 3])
  heads.apply(pointsRecord([1, [5, 1]]))
  heads.takeBack(1)
  assert.equal(heads.activePoints, 2)
  heads.dropAll(1)
  assert.equal(heads.activePoints, 0)
  heads.endFolding()
  assert.equal(heads.foldingPoints, 0)
})
