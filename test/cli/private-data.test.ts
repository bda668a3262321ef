import assert from 'node:assert/strict'
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { serve, temporaryFolder, tidemark } from './run.ts'

/** Rights of everything below a folder, itself included. */
function rightsBelow(path: string): readonly (readonly [path: string, rights: string])[] {
  const entry = lstatSync(path)
  const own = [path, (entry.mode & 0o777).toString(8)] as const
  if (!entry.isDirectory()) return [own]
  return [own, ...readdirSync(path).flatMap((name) => rightsBelow(join(path, name)))]
}

function assertPrivate(folder: string): void {
  const rights = rightsBelow(folder)
  assert.ok(rights.length > 3, 'there are files')
  for (const [path, mode] of rights) assert.equal(mode, lstatSync(path).isDirectory() ? '700' : '600', path)
}

describe('a data directory', {
  skip: process.platform === 'win32' && 'Windows has no such rights',
}, async () => {
  const cwd = await temporaryFolder()
  const data = join(cwd, 'data')
  const write = { points: { 'local/A': [{ timestamp: 1, value: 2 }] }, createTags: true }

  it('is for its user alone, with all that is in it, and so are backups and a historian elsewhere', async () => {
    const service = await serve([], { cwd })
    assert.equal((await service.post('/historian/write/points', write)).status, 200)
    assertPrivate(data)
    assert.equal((await tidemark(['backup', 'copy'], { cwd })).code, 0)
    assertPrivate(join(cwd, 'copy'))
    await service.stop()
    assertPrivate(data)
  })

  it('that was open to everybody is closed by the next start', async () => {
    for (const [path] of rightsBelow(data)) chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644)
    const service = await serve([], { cwd })
    assertPrivate(data)
    await service.stop()
  })

  it('that its operator opened for a group stays so', async () => {
    chmodSync(data, 0o750)
    const service = await serve([], { cwd })
    assert.equal((lstatSync(data).mode & 0o777).toString(8), '750')
    await service.stop()
  })
})
