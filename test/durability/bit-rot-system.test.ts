import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Alias } from '../../src/aliases/store.ts'
import type { NewKey } from '../../src/config/keys.ts'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { KnownHistorians } from '../../src/storage/directory/known-historians.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { DatabaseAliasStore } from '../../src/storage/system/alias-database.ts'
import { DatabaseKeyStore } from '../../src/storage/system/key-database.ts'
import {
  openSystemDatabase,
  SYSTEM_DATABASE,
  type SystemDatabase,
} from '../../src/storage/system/system-database.ts'
import { allow } from '../contract/alias-store-promises.ts'
import { newKey } from '../contract/key-store-promises.ts'
import { temporaryFolder } from './folder.ts'

/** Places that are damaged: each of them takes a database of its own. */
const PLACES = Math.ceil(Number(process.env.ROT_PLACES ?? 2_000) / 2)

const UNAVAILABLE = ['ALIASES_UNAVAILABLE', 'KEYS_UNAVAILABLE']
const REFUSALS = ['DATA_DIR_UNUSABLE', 'DATA_DIR_NEWER']
const UNREADABLE = [...UNAVAILABLE, ...REFUSALS]

const KNOWN = Array.from({ length: 15 }, (_, i) => ({
  name: `plant ${i}`,
  folder: i % 3 === 0 ? `/data/${i}` : null,
  id: 'ab'.repeat(16),
  token: 3 + i,
  lastSequence: i % 2 === 0 ? 1_000_000 + i : null,
}))
const NOTHING_NOTED = { folder: null, id: null, token: null, lastSequence: null }

const ALIASES: readonly Alias[] = Array.from({ length: 120 }, (_, i) => ({
  name: `area ${i % 7}/FLOW ${i}`,
  tag: `plant/FIC${1_000 + 7 * i}.PV`,
  description: i % 3 === 0 ? `flow ${i}` : null,
  units: i % 2 === 0 ? 't/h' : null,
}))

/** Databases of this process and their memory are closed each. */
async function withDatabase<T>(folder: string, work: (database: SystemDatabase) => Promise<T>): Promise<T> {
  const database = await openSystemDatabase(systemFiles, folder, { create: true })
  try {
    return await work(database)
  } finally {
    database.close()
  }
}

/** What something gives, `null` where it says that it cannot be read. */
async function orTold<T>(work: () => Promise<T> | T): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    assert.ok(error instanceof TidemarkError && UNREADABLE.includes(error.code), String(error))
    return null
  }
}

/**
 * Whatever is read is what was written: an alias refers to its tag, a key opens what it may, and a historian is where
 * it was, or nothing.
 */
async function readAll(database: SystemDatabase, keys: readonly NewKey[], what: string): Promise<boolean> {
  let isWhole = true
  const aliases = new DatabaseAliasStore(database)
  for (const alias of ALIASES) {
    const found = await orTold(() => aliases.read((reader) => reader.get(alias.name)))
    if (found === null) isWhole = false
    else assert.deepEqual(found, alias, what)
  }
  const byName = new Map(ALIASES.map((alias) => [alias.name, alias]))
  const list = () => aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 1_000 }))
  for (const alias of (await orTold(list)) ?? []) assert.deepEqual(alias, byName.get(alias.name), what)
  const store = new DatabaseKeyStore(database)
  for (const { record, digest } of keys) {
    const found = await orTold(() => store.find(digest))
    if (found === null) isWhole = false
    else assert.deepEqual(found, record, what)
  }
  const byId = new Map(keys.map(({ record }) => [record.id, record]))
  for (const record of (await orTold(() => store.list())) ?? []) {
    assert.deepEqual(record, byId.get(record.id), what)
  }
  const known = new KnownHistorians(database)
  for (const one of KNOWN) {
    const found = await orTold(() => known.get(one.name))
    if (found === null || found.id === null) isWhole = false
    if (found !== null) {
      assert.deepEqual(found, found.id === null ? { name: one.name, ...NOTHING_NOTED } : one, what)
    }
  }
  const knownByName = new Map(KNOWN.map((one) => [one.name, one]))
  for (const one of (await orTold(() => known.list())) ?? []) {
    assert.deepEqual(one, knownByName.get(one.name), what)
  }
  return isWhole
}

/** Whether a check says that something cannot be read. */
async function isTold(database: SystemDatabase): Promise<boolean> {
  if (database.check().length > 0) return true
  const checks = [
    await orTold(() => new DatabaseAliasStore(database).check()),
    await orTold(() => new DatabaseKeyStore(database).check()),
    await orTold(() => new KnownHistorians(database).check()),
  ]
  return checks.some((check) => check === null || check.damaged > 0)
}

async function makeDatabase(t: TestContext) {
  const folder = temporaryFolder(t)
  const keys = Array.from({ length: 12 }, (_, i) => {
    const { record, digest } = newKey(`key ${i}`)
    const historians = i % 2 === 0 ? ['plant', 'local'] : null
    return { record: { ...record, historians, expiresAt: 1_900_000_000_000_000 + i }, digest }
  })
  await withDatabase(folder, async (database) => {
    const store = new DatabaseKeyStore(database)
    for (const { record, digest } of keys) await store.add(record, digest)
    const aliases = new DatabaseAliasStore(database)
    for (const alias of ALIASES) await aliases.put(alias, allow)
    const known = new KnownHistorians(database)
    for (const one of KNOWN) await known.add(one)
  })
  return { folder, path: join(folder, SYSTEM_DATABASE), keys }
}

test('a flipped bit or a missing end of keys and aliases makes none another one, and what is lost is told', async (t) => {
  const { folder, path, keys } = await makeDatabase(t)
  const whole = readFileSync(path)
  assert.equal(await withDatabase(folder, (database) => readAll(database, keys, 'whole')), true)
  assert.equal(await withDatabase(folder, isTold), false)
  const tally = { refused: 0, missing: 0, harmless: 0 }
  for (let i = 0; i < PLACES; i++) {
    // Prime steps: bits of all kinds of bytes.
    const at = (i * 7_919) % whole.length
    const isCut = i % 8 === 7
    const bytes = isCut ? whole.subarray(0, at) : Buffer.from(whole)
    if (!isCut) bytes[at]! ^= 1 << (i % 8)
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    writeFileSync(path, bytes)
    const what = isCut ? `cut at ${at}` : `bit flipped at ${at}`
    try {
      const isWhole = await withDatabase(folder, async (database) => {
        const isWhole = await readAll(database, keys, what)
        assert.ok(isWhole || (await isTold(database)), `${what}: nothing is told`)
        return isWhole
      })
      if (isWhole) tally.harmless++
      else tally.missing++
    } catch (error) {
      if (!(error instanceof TidemarkError)) throw error
      assert.ok(REFUSALS.includes(error.code), `${what}: ${error.code}`)
      tally.refused++
    }
  }
  t.diagnostic(JSON.stringify(tally))
})
