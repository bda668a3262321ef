import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { clickhouseConfigSchema } from '../../../src/drivers/clickhouse/config.ts'
import { ClickhouseHistorian } from '../../../src/drivers/clickhouse/driver.ts'
import { VersionClock } from '../../../src/drivers/clickhouse/version-clock.ts'
import { NO_METER } from '../../../src/historian/remote/meter.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import type { PointColumns } from '../../../src/series/columns.ts'
import { assertPoints, at, EVER, points } from '../../contract/points.ts'
import type { ClickhouseEngine } from '../../servers/clickhouse.ts'
import { ENGINES } from '../../servers/clickhouse-engines.ts'

const context = { signal: new AbortController().signal }
const HOUR_MS = 3_600_000

async function write(historian: ClickhouseHistorian, columns: PointColumns): Promise<void> {
  await historian.write(writeBatch([{ tag: 'a', points: columns }], true), context)
}

async function readAll(historian: ClickhouseHistorian): Promise<PointColumns> {
  const [found] = await historian.readRanges([{ tag: 'a', ...EVER, order: 'asc', limit: 1_000 }], context)
  return found!.points
}

for (const engine of ENGINES) {
  describe(`${engine.name}: the last write wins whatever the clocks say`, { skip: engine.skip }, () => {
    let server: ClickhouseEngine
    before(async () => {
      server = await engine.start()
    })
    after(() => server.kill())

    for (const partitionBy of ['none', 'month'] as const) {
      const database = (name: string) => `versions_${name}_${partitionBy}`
      /** A gateway whose clock is off by so much. */
      const open = (name: string, offMs: number) =>
        new ClickhouseHistorian(
          clickhouseConfigSchema.parse({ urls: [server.url], database: database(name), partitionBy }),
          {
            name: 'plant',
            directory: '/nonexistent',
            log: { info() {}, warn() {}, error() {} },
            meter: NO_METER,
          },
          new VersionClock(() => Date.now() + offMs),
        )
      const at2026 = Date.UTC(2026, 0, 1) * 1_000

      test(`after a restart with the clock an hour back (partitions: ${partitionBy})`, async () => {
        const before = open('restart', 0)
        await write(before, points([-at2026, 1], [5, 1], [at2026, 1], [2 * at2026, 1]))
        await before.close()
        const restarted = open('restart', -HOUR_MS)
        await write(restarted, points([5, 2], [at2026, 2], [-at2026, 2]))
        assertPoints(await readAll(restarted), points([-at2026, 2], [5, 2], [at2026, 2], [2 * at2026, 1]))
        // And of those, one that goes on from what this one wrote.
        await restarted.close()
        const third = open('restart', -2 * HOUR_MS)
        await write(third, points([at2026, 3]))
        assert.equal(
          await third.deletePoints([{ tag: 'a', from: at(5), to: at(6) }], false, context).then(([n]) => n),
          1,
        )
        await write(third, points([5, 4]))
        assertPoints(await readAll(third), points([-at2026, 2], [5, 4], [at2026, 3], [2 * at2026, 1]))
        await third.close()
      })

      test(`through a gateway 2 s behind after a write and after deletions (partitions: ${partitionBy})`, async () => {
        const [ahead, behind] = [open('two', 0), open('two', -2_000)]
        await write(behind, points([1, 1], [at2026, 1]))
        await write(ahead, points([1, 2]))
        await write(behind, points([1, 3]))
        for (const historian of [ahead, behind])
          assertPoints(await readAll(historian), points([1, 3], [at2026, 1]))
        const everything = { tag: 'a', ...EVER }
        assert.deepEqual(await ahead.deletePoints([everything], false, context), [2])
        await write(behind, points([1, 4], [at2026, 4]))
        for (const historian of [ahead, behind])
          assertPoints(await readAll(historian), points([1, 4], [at2026, 4]))
        assert.deepEqual(await ahead.deleteTags(['a'], false, context), [2])
        await write(behind, points([1, 5]))
        for (const historian of [ahead, behind]) assertPoints(await readAll(historian), points([1, 5]))
        // The other way round: what the one behind deletes is deleted.
        await write(ahead, points([1, 6]))
        assert.deepEqual(await behind.deletePoints([everything], false, context), [1])
        for (const historian of [ahead, behind]) assertPoints(await readAll(historian), points())
        await ahead.close()
        await behind.close()
      })

      test(`over rows of a version without marks, and over those of a clock of the year 2190 (partitions: ${partitionBy})`, async () => {
        const first = open('old', 0)
        await write(first, points([1, 1]))
        await first.close()
        const version = BigInt(Date.UTC(2190, 0, 1)) * 1_000n * 1_024n
        const table = `${database('old')}.points`
        await server.sql(`CREATE TABLE ${database('old')}.kept AS ${table}`)
        await server.sql(
          `INSERT INTO ${database('old')}.kept SELECT tag, time, value, status, toUInt64(${version}) FROM ${table} WHERE status = 0`,
        )
        await server.sql(`DROP TABLE ${table}`)
        await server.sql(`RENAME TABLE ${database('old')}.kept TO ${table}`)
        const next = open('old', 0)
        await write(next, points([1, 2]))
        assertPoints(await readAll(next), points([1, 2]))
        await next.close()
        const after_ = open('old', 0)
        await write(after_, points([1, 3]))
        assertPoints(await readAll(after_), points([1, 3]))
        await after_.close()
      })
    }
  })
}
