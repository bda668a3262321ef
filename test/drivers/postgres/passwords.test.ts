import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import type { CallContext } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { EVER, points } from '../../contract/points.ts'
import { found, type PostgresServer, startPostgres, testEnvironment } from '../../servers/postgres.ts'

const context: CallContext = { signal: new AbortController().signal }

describe('a PostgreSQL that asks for a password', { skip: found.skip }, () => {
  let server: PostgresServer
  const file = join(tmpdir(), `tidemark-postgres-password-${process.pid}`)
  before(async () => {
    server = await startPostgres({
      hba: 'host all postgres 127.0.0.1/32 trust\nhost all plant 127.0.0.1/32 scram-sha-256\n',
      settings: 'fsync=off',
    })
    await server.sql("CREATE ROLE plant LOGIN PASSWORD 'first secret'")
    await server.sql('CREATE SCHEMA plant AUTHORIZATION plant')
  })
  after(async () => {
    rmSync(file, { force: true })
    await server.stop('immediate')
  })

  const open = (password: object | undefined) =>
    postgres.open(
      postgresConfigSchema.parse({ ...server.config('plant'), user: 'plant', ...(password && { password }) }),
      testEnvironment(),
    )

  test('a wrong, missing or changed one is told apart, never shown, and looked at anew without a restart', async () => {
    writeFileSync(file, 'wrong secret\n')
    const historian = await open({ file })
    await assert.rejects(historian.checkHealth(context), (error: Error) => {
      assert.equal(
        error.message,
        'Historian plant could not be reached: it refused the credentials of the setting password',
      )
      return true
    })
    writeFileSync(file, 'first secret\n')
    await historian.checkHealth(context)
    await historian.close()

    const without = await open(undefined)
    await assert.rejects(without.checkHealth(context), {
      message:
        'Historian plant could not be reached: it asks for a password, and the setting password is missing',
    })
    await without.close()

    rmSync(file)
    const unread = await open({ file })
    await assert.rejects(unread.checkHealth(context), {
      message: 'Historian plant could not be reached: the file with its credentials cannot be read (ENOENT)',
    })
    await unread.close()
  })

  test('a user without the right to make schemas has its tables in one that was made for it', async () => {
    writeFileSync(file, 'first secret')
    const historian = await open({ file })
    await historian.write(writeBatch([{ tag: 'a', points: points([1, 1]) }], true), context)
    const [read] = await historian.readRanges([{ tag: 'a', ...EVER, order: 'asc', limit: 9 }], context)
    assert.deepEqual([...read!.points.times], [1])
    await historian.close()
  })
})
