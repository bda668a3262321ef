import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { UNHANDLED_REJECTION } from './unhandled-rejections.ts'

const run = promisify(execFile)
const urlOf = (file: string) => JSON.stringify(new URL(file, import.meta.url).href)
const seed = fileURLToPath(new URL('../../test/seed.ts', import.meta.url))

test('a rejection that nobody handles is logged with its stack, counted and survived', async () => {
  const program = `
    const { surviveRejections } = await import(${urlOf('./unhandled-rejections.ts')})
    const { createLog } = await import(${urlOf('./log.ts')})
    const count = surviveRejections(createLog('info', { write: (line) => console.log(line.trim()) }))
    Promise.reject(new RangeError('somebody forgot this'))
    Promise.reject('and this')
    setTimeout(() => console.log(JSON.stringify({ survived: count() })), 20)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.slice(0, 2).map(({ level, msg }) => [level, msg]),
    [
      ['error', UNHANDLED_REJECTION],
      ['error', UNHANDLED_REJECTION],
    ],
  )
  assert.equal(lines[0].err.message, 'somebody forgot this')
  assert.match(lines[0].err.stack, /RangeError/)
  assert.deepEqual(lines[2], { survived: 2 })
})

test('a rejection that nobody handles fails a test run, also one after the last test', async () => {
  const program = `
    import test from 'node:test'
    test('passes', () => {})
    test.after(() => void Promise.reject(new Error('somebody forgot this')))`
  const options = ['--import', seed, '--input-type=module', '-e', program]
  const env = { ...process.env }
  delete env.NODE_TEST_CONTEXT
  await assert.rejects(run(process.execPath, options, { env }), (error: { code: number; stderr: string }) => {
    assert.equal(error.code, 1)
    assert.match(error.stderr, /somebody forgot this/)
    return true
  })
})
