import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerLines } from './answer-lines.ts'

async function linesOf(...chunks: readonly string[]) {
  const body = async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  return await Array.fromAsync(answerLines(body(), 'plant'))
}

test('lines are found wherever the chunks of the answer begin and end', async () => {
  const text = '{"results":[{"statement_id":0}]}\n{"results":[{"error":"é\\n"}]}\n'
  const expected = [{ results: [{ statement_id: 0 }] }, { results: [{ error: 'é\n' }] }]
  assert.deepEqual(await linesOf(text), expected)
  assert.deepEqual(await linesOf(text.slice(0, -1)), expected)
  for (let cut = 0; cut <= text.length; cut++) {
    assert.deepEqual(await linesOf(text.slice(0, cut), text.slice(cut)), expected)
  }
  assert.deepEqual(await linesOf(...text), expected)
  assert.deepEqual(await linesOf('\n\n'), [])
})

test('a result with a number that JSON has not is an error, and the lines after it are read', async () => {
  const [first, second] = await linesOf('json: unsupported value: +Inf\n{"results":[]}\n')
  assert.equal(first!.error, 'json: unsupported value: +Inf')
  assert.deepEqual(second, { results: [] })
})

test('what is no answer of InfluxDB fails with a sentence that names the historian', async () => {
  for (const text of ['<html>', '{"results":[', '17']) {
    await assert.rejects(linesOf(text), {
      code: 'HISTORIAN_UNAVAILABLE',
      message: 'Historian plant could not be reached: its answer is not understood',
    })
  }
})
