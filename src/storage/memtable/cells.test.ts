import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { badWord, CELL_POINTS, CellSlabs, Cells, firstDouble, NO_CELL, nextWord } from './cells.ts'

/** Cells in lists, each marked with a number of its own. */
class Lists {
  readonly cells: Cells
  readonly lists: { readonly cells: number[]; readonly marks: number[] }[] = []
  #mark = 0

  constructor(slabs = new CellSlabs()) {
    this.cells = new Cells(slabs)
  }

  add(length: number): void {
    const taken: number[] = []
    const marks: number[] = []
    for (let i = 0; i < length; i++) {
      const cell = this.cells.take()
      const { doubles, words } = this.cells.slabOf(cell)
      assert.equal(words[nextWord(cell)], NO_CELL)
      assert.equal(words[badWord(cell)], 0)
      const mark = ++this.#mark
      for (let at = 0; at < 2 * CELL_POINTS; at++) doubles[firstDouble(cell) + at] = mark + at / 64
      words[badWord(cell)] = mark
      if (i > 0) this.cells.slabOf(taken[i - 1]!).words[nextWord(taken[i - 1]!)] = cell
      taken.push(cell)
      marks.push(mark)
    }
    this.lists.push({ cells: taken, marks })
  }

  giveBack(index: number): void {
    const [list] = this.lists.splice(index % Math.max(1, this.lists.length), 1)
    if (list !== undefined) this.cells.giveBack(list.cells[0] ?? NO_CELL)
  }

  release(isLast = false): void {
    this.cells.release(isLast)
    this.lists.length = 0
  }

  check(): void {
    let used = 0
    for (const { cells, marks } of this.lists) {
      let cell = cells[0] ?? NO_CELL
      for (const mark of marks) {
        const { doubles, words } = this.cells.slabOf(cell)
        for (let at = 0; at < 2 * CELL_POINTS; at++) {
          assert.equal(doubles[firstDouble(cell) + at], mark + at / 64)
        }
        assert.equal(words[badWord(cell)], mark)
        cell = words[nextWord(cell)]!
      }
      assert.equal(cell, NO_CELL)
      used += marks.length
    }
    assert.equal(this.cells.used, used)
  }
}

test('cells belong to one list each, whatever is taken and given back, one by one or all of a generation', () => {
  const ofOne = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 3_000 }).map((n) => (lists: Lists) => lists.add(n)) },
    { weight: 4, arbitrary: fc.nat().map((n) => (lists: Lists) => lists.giveBack(n)) },
    { weight: 1, arbitrary: fc.constant((lists: Lists) => lists.release()) },
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(1), ofOne), { maxLength: 25 }), (commands) => {
      const slabs = new CellSlabs()
      const generations = [new Lists(slabs), new Lists(slabs)]
      for (const [generation, act] of commands) act(generations[generation]!)
      for (const lists of generations) lists.check()
    }),
    { numRuns: 50 },
  )
})

test('memory is given back that was not needed for four generations', () => {
  const slabs = new CellSlabs()
  const [one, another] = [new Lists(slabs), new Lists(slabs)]
  another.add(1)
  const few = slabs.bytes
  one.add(20_000)
  const many = slabs.bytes
  one.release()
  // Needed since the last time.
  assert.equal(slabs.bytes, many)
  for (let generation = 0; generation < 4; generation++) {
    one.add(5_000)
    one.release()
  }
  assert.ok(slabs.bytes > few && slabs.bytes < many / 2)
  another.check()
  another.release(true)
  assert.equal(slabs.bytes, 0)
})

test('generations whose flushes take longer or shorter make no memory anew', () => {
  const slabs = new CellSlabs()
  let [active, immutable] = [new Lists(slabs), new Lists(slabs)]
  let most = 0
  for (let generation = 0; generation < 20; generation++) {
    // What comes while the one before is flushed.
    const meanwhile = [18_000, 0, 1_000][generation % 3]!
    active.add(meanwhile)
    immutable.release()
    active.add(20_000 - meanwhile)
    const before = slabs.bytes
    if (generation > 3) assert.equal(before, most)
    most = Math.max(most, before)
    ;[active, immutable] = [immutable, active]
  }
})
