import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { at, ramp } from '../../contract/points.ts'
import { askBody, type Json } from '../../multi-harness.ts'
import { found, type PostgresServer, startPostgres, testEnvironment } from '../../servers/postgres.ts'

/** Ranges that no two labels share are a statement each, and not all may wait for a connection at the same time. */

const context = { signal: new AbortController().signal }
const SECOND = 1_000_000

describe('a call of more ranges than may wait for a connection', { skip: found.skip }, () => {
  const COUNT = 1_200
  const ranges = Array.from({ length: COUNT }, (_, i) => Float64Array.of(i * SECOND, (i + 2) * SECOND))
  let server: PostgresServer
  let historian: Historian
  before(async () => {
    server = await startPostgres({ settings: 'fsync=off' })
    const config = postgresConfigSchema.parse(server.config('many'))
    historian = await postgres.open(config, testEnvironment())
    const points = ramp(COUNT + 2, 0, SECOND)
    await historian.write(writeBatch([{ tag: 'T', points }], true), context)
  })
  after(async () => {
    await historian.close()
    await server.stop('immediate')
  })

  const shape = { tag: 'T', stepped: true, holdUntil: at(1e13) }

  test('aggregates', async () => {
    const queries = ranges.map((edges) => ({ ...shape, edges, aggregates: ['max'] as const }))
    const columns = await historian.readAggregates!(queries, context)
    assert.deepEqual(
      columns.map(({ max }) => max![0]),
      ranges.map((_, i) => i + 1),
    )
  })

  test('integrals', async () => {
    const queries = ranges.map(([from, to]) => ({
      ...shape,
      starts: Float64Array.of(from!),
      ends: Float64Array.of(to!),
    }))
    const found = await historian.readIntegrals!(queries, context)
    assert.deepEqual(
      found.map(({ integrals }) => integrals[0]),
      ranges.map((_, i) => (2 * i + 1) * SECOND),
    )
  })

  test('charts, with the values at the ends of each', async () => {
    const requests = Object.fromEntries(
      ranges.map(([from, to], i) => {
        const details = { from: from! / SECOND, to: to! / SECOND - 0.5, width: 1 }
        return [`c${i}`, { type: 'PLOT', tag: `${historian.name}/T`, details }]
      }),
    )
    const { json } = await askBody([historian], { requests })
    assert.deepEqual(json.errors, {})
    const values = Object.values<Json>(json.results).map(({ dataPoints }) =>
      dataPoints.map(({ value }: Json) => value),
    )
    assert.deepEqual(
      values,
      Array.from({ length: COUNT }, (_, i) => [i, i + 1, i + 1.5]),
    )
  })
})
