import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { openDatabase, openEnvironment } from './environment.ts'
import { findMissingPage } from './page-reach.ts'

const DATABASES = ['a', 'b', 'c']

/** A transaction: entries that it puts, of so many bytes, and whether it removes them again. */
interface Change {
  readonly database: string
  readonly first: number
  readonly count: number
  readonly bytes: number
  readonly removes: string
}

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    database: fc.constantFrom(...DATABASES),
    first: fc.nat(300),
    count: fc.integer({ min: 1, max: 300 }),
    bytes: fc.constantFrom(0, 20, 700, 1_900, 5_000, 40_000),
    removes: fc.constantFrom('none', 'in the same commit', 'in the next one'),
  }),
  { minLength: 1, maxLength: 12 },
)

async function makeFile(folder: string, all: readonly Change[]): Promise<void> {
  const root = openEnvironment(folder)
  for (const { database, first, count, bytes, removes } of all) {
    const store = openDatabase(root, database)
    const keys = Array.from({ length: Math.min(count, 5e5 / (bytes + 1)) }, (_, i) =>
      Buffer.from(`key ${first + i}`),
    )
    await root.transaction(() => {
      for (const key of keys) store.put(key, Buffer.alloc(bytes, first))
      if (removes === 'in the same commit') for (const key of keys) store.remove(key)
    })
    if (removes !== 'in the next one') continue
    await root.transaction(() => {
      for (const key of keys) store.remove(key)
    })
  }
  for (const database of DATABASES) openDatabase(root, database)
  await root.close()
}

/** How many bytes of a file are needed, by trying. */
function bytesInUse(file: string, pageBytes: number): number {
  let [enough, whole] = [2 * pageBytes, Math.ceil(statSync(file).size / pageBytes) * pageBytes]
  const copy = `${file}.cut`
  const isWhole = (bytes: number) => {
    copyFileSync(file, copy)
    truncateSync(copy, bytes)
    return findMissingPage(copy) === null
  }
  while (enough < whole) {
    const middle = Math.floor((enough + whole) / pageBytes / 2) * pageBytes
    if (isWhole(middle)) whole = middle
    else enough = middle + pageBytes
  }
  return whole
}

/** What lmdb itself reads of a file of so many bytes; it must not be looked at by this process, which would share what it knows. */
function readCut(file: string, bytes: number, folder: string) {
  mkdirSync(folder)
  const copy = join(folder, 'data.mdb')
  copyFileSync(file, copy)
  truncateSync(copy, bytes)
  const script = join(import.meta.dirname, '../../test/durability/read-all.ts')
  return spawnSync(process.execPath, [script, folder, ...DATABASES], { encoding: 'utf8' })
}

test('lmdb reads and writes a file that holds all pages in use, and dies of one that lacks the last of them', {
  skip: process.platform !== 'linux' && 'systems have other pages, and other ways to die',
}, async (t) => {
  const base = temporaryFolder(t)
  let round = 0
  await fc.assert(
    fc.asyncProperty(changes, async (all) => {
      const folder = join(base, String(round++))
      await makeFile(folder, all)
      const file = join(folder, 'data.mdb')
      assert.equal(findMissingPage(file), null)
      const whole = readCut(file, statSync(file).size, `${folder}-whole`)
      assert.equal(whole.status, 0, whole.stderr)
      const inUse = bytesInUse(file, 4096)
      assert.equal(readCut(file, inUse, `${folder}-cut`).stdout, whole.stdout)
      assert.equal(readCut(file, inUse - 4096, `${folder}-short`).signal, 'SIGBUS')
    }),
    { numRuns: 12 },
  )
})

test('a page that is missing is told, also one of those that a value takes', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'data.mdb')
  const root = openEnvironment(folder)
  await openDatabase(root, 'a').put(Buffer.from('key'), Buffer.alloc(100_000))
  await root.close()
  const { size } = statSync(file)
  truncateSync(file, size - 1)
  const missing = findMissingPage(file)!
  assert.equal(missing.fileBytes, size - 1)
  assert.ok(missing.at < size && missing.at + 100_000 > size, JSON.stringify(missing))
})

test('damage ends neither the search nor the process', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'data.mdb')
  const root = openEnvironment(folder)
  const store = openDatabase(root, 'a')
  await root.transaction(() => {
    for (let i = 0; i < 3_000; i++)
      store.put(Buffer.from(`key ${i}`), Buffer.alloc(i % 100 === 0 ? 5_000 : 100))
  })
  await root.close()
  const sound = readFileSync(file)
  const place = fc.record({ at: fc.nat(sound.length - 8192 - 1), byte: fc.nat(255) })
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 2_000 }), (places) => {
      const bytes = Buffer.from(sound)
      for (const { at, byte } of places) bytes[8192 + at] = byte
      writeFileSync(file, bytes)
      const missing = findMissingPage(file)
      if (missing !== null) assert.ok(missing.at + 4096 > bytes.length)
    }),
  )
})
