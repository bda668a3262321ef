import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemFiles } from '../files/system-files.ts'
import { Garbage } from './garbage.ts'

test('very many files wait until readers have moved on, and go at the end', () => {
  const removed: string[] = []
  const files = { ...systemFiles, remove: (path: string) => void removed.push(path) }
  const limits = { soonestMs: 1_000_000, latestMs: 2_000_000 }
  const garbage = new Garbage(
    files,
    limits,
    () => 1,
    () => {},
  )
  const names = Array.from({ length: 300_000 }, (_, i) => `${i}.part`)
  garbage.readerAt(1, 0)
  garbage.add('parts', names)
  garbage.readerAt(1, 2)
  assert.equal(removed.length, 0)
  garbage.close()
  assert.equal(removed.length, names.length)
})
