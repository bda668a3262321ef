import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { NewKey } from '../../src/config/keys.ts'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { KnownHistorians } from '../../src/storage/directory/known-historians.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { DatabaseAliasStore } from '../../src/storage/system/alias-database.ts'
import { DatabaseKeyStore } from '../../src/storage/system/key-database.ts'
import { openSystemDatabase, type SystemDatabase } from '../../src/storage/system/system-database.ts'
import { alias, allow } from '../contract/alias-store-promises.ts'
import { newKey } from '../contract/key-store-promises.ts'

// Run by system-faults.test.ts, under strace, which fails some calls of SQLite, or with files that may not grow beyond
// some length: lives with keys and aliases one after the other in one folder. Tells what was not as it must be.

const [folder = '', count = '1', prlimit = ''] = process.argv.slice(2)
const UNAVAILABLE = ['KEYS_UNAVAILABLE', 'ALIASES_UNAVAILABLE', 'DATA_DIR_UNUSABLE']
/** What fails is tried again so often. */
const TRIES = 100

const problems: string[] = []
let failures = 0
let life = 0

/** What may be there of each key and alias, as text. */
type Model = Map<string, readonly string[]>

/** What something gives; `null` when it fails as it may. */
async function mayFail<T>(what: string, work: () => Promise<T> | T): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    failures++
    const isTold = error instanceof TidemarkError && UNAVAILABLE.includes(error.code)
    if (!isTold) problems.push(`life ${life}, ${what}: ${String(error)}`)
    return null
  }
}

async function untilDone<T>(what: string, work: () => Promise<T> | T): Promise<T> {
  for (let tries = 0; tries < TRIES; tries++) {
    const result = await mayFail(what, work)
    if (result !== null) return result
    await wait(1)
  }
  throw new Error(`life ${life}: ${what} fails for ever`)
}

const open = () => openSystemDatabase(systemFiles, folder, { create: true, shown: folder })

/** A change with what is there afterwards; where it fails it may have been made. */
async function change(
  model: Model,
  name: string,
  after: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const done = await mayFail(`${name} ${after}`, async () => {
    await work()
    return true
  })
  model.set(name, done === null ? [...(model.get(name) ?? ['absent']), after] : [after])
}

/** Whatever can be read is as it must be. */
async function look(
  database: SystemDatabase,
  model: Model,
  keys: readonly NewKey[],
  when: string,
): Promise<void> {
  const [stored, aliases] = [new DatabaseKeyStore(database), new DatabaseAliasStore(database)]
  const compare = (name: string, found: string) => {
    const may = model.get(name) ?? ['absent']
    if (!may.includes(found)) problems.push(`life ${life}, ${when}: ${name} is ${found}, not ${may}`)
  }
  for (const { record, digest } of keys) {
    const found = await mayFail(`find ${record.name}`, async () => [await stored.find(digest)])
    if (found !== null) compare(record.name, stateOf(found[0] ?? null))
  }
  for (const name of ['x', 'y']) {
    const found = await mayFail(`get ${name}`, async () => [await aliases.read((reader) => reader.get(name))])
    if (found !== null) compare(name, found[0]?.tag ?? 'absent')
  }
  const listed = await mayFail('list', () => stored.list())
  for (const { record } of listed === null ? [] : keys) {
    compare(record.name, stateOf(listed?.find(({ id }) => id === record.id) ?? null))
  }
}

function stateOf(
  record: { readonly revokedAt: number | null; readonly expiresAt: number | null } | null,
): string {
  if (record === null) return 'absent'
  return record.revokedAt !== null ? 'revoked' : record.expiresAt !== null ? 'expires' : 'valid'
}

async function live(): Promise<void> {
  const model: Model = new Map()
  const named = (name: string): NewKey => newKey(`${name}-${life}`)
  const [a, b, c, d] = [named('a'), named('b'), named('c'), named('d')]
  const all = [a, b, c, d]
  for (let opening = 0; opening < 2; opening++) {
    const database = await untilDone('opening', open)
    const keys = new DatabaseKeyStore(database)
    const aliases = new DatabaseAliasStore(database)
    const known = new KnownHistorians(database)
    const steps: (() => Promise<unknown>)[] =
      opening === 0
        ? [
            () => change(model, a.record.name, 'valid', () => keys.addFirstStartKeys([a])),
            () => known.add({ name: 'plant', folder: null, id: '1', token: 1, lastSequence: null }),
            () => change(model, b.record.name, 'valid', () => keys.add(b.record, b.digest)),
            () => change(model, 'x', 'plant/A', () => aliases.put(alias('x', 'plant/A'), allow)),
            () => change(model, 'y', 'plant/A', () => aliases.put(alias('y', 'plant/A'), allow)),
            () => change(model, a.record.name, 'revoked', () => mustFind(keys.revoke(a.record.name))),
            () => change(model, 'x', 'plant/B', () => aliases.put(alias('x', 'plant/B'), allow)),
          ]
        : [
            () => mayFail('known', async () => [await known.get('plant')]),
            () => change(model, 'y', 'absent', () => aliases.delete('y', allow)),
            () => change(model, c.record.name, 'valid', () => keys.add(c.record, c.digest)),
            () => mayFail('uses', async () => [await keys.noteUses(new Map([[c.record.id, 5]]))]),
            () => change(model, d.record.name, 'valid', () => keys.add(d.record, d.digest)),
          ]
    for (const [number, step] of steps.entries()) {
      await step()
      await look(database, model, all, `after step ${number} of opening ${opening}`)
    }
    await mayFail('close', async () => [database.close()])
  }
  limit(null)
  const database = await untilDone('opening at the end', open)
  await look(database, model, all, 'at the end')
  const found = await untilDone('check', async () => {
    const { damaged } = await new DatabaseKeyStore(database).check()
    return damaged
  })
  if (found > 0) problems.push(`life ${life}: ${found} keys are damaged`)
  await untilDone('close at the end', async () => [database.close()])
}

/** A key whose addition failed may not be there. */
async function mustFind(revoked: Promise<unknown>): Promise<unknown> {
  const found = await revoked
  if (found === null) throw new TidemarkError('KEYS_UNAVAILABLE', { reason: 'it was not added' })
  return found
}

/** Files may have so many bytes; `null` for any. */
function limit(bytes: number | null): void {
  if (prlimit === '') return
  execFileSync(prlimit, ['--pid', String(process.pid), `--fsize=${bytes ?? 'unlimited'}:`])
}

for (; life < Number(count); life++) {
  rmSync(folder, { recursive: true, force: true })
  limit(null)
  if (prlimit !== '') {
    // It is made without a limit: what follows meets it.
    ;(await open()).close()
    limit(life * 1_024)
  }
  await live().catch((error: unknown) => {
    limit(null)
    problems.push(String(error))
  })
}
console.log(JSON.stringify({ failures, problems }))
