import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdTable } from './id-table.ts'

/** More than a page of ids. */
const IDS = 10_000

function check(table: IdTable): void {
  const all = table.addresses()
  for (let id = 0; id < IDS + 5_000; id++) assert.equal(all[id] ?? 0, table.get(id), `id ${id}`)
}

test('the addresses of all ids are those that each has, with what is hidden, staged and given up', () => {
  const table = new IdTable()
  check(table)
  for (let id = 1; id <= IDS; id++) table.set(id, 10 * id)
  for (let id = 4_090; id < 8_200; id++) table.set(id, 0)
  check(table)
  for (let id = 1; id < IDS; id += 3) if (table.get(id) !== 0) table.stage(id, id % 2 === 0 ? 0 : 7 * id)
  table.hiddenFrom = 9_000
  check(table)
  table.show()
  check(table)
  table.hiddenFrom = Number.POSITIVE_INFINITY
  check(table)
  for (let id = 1; id < IDS; id++) table.settle(id)
  table.settled()
  check(table)
})
