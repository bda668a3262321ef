import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { serve, temporaryFolder } from '../cli/run.ts'
import { findPython } from '../servers/python.ts'

/**
 * A tester that many use: it draws requests that fit the served document and requests that do not; `.ci/run` installs
 * it.
 */
const found = findPython('schemathesis', 'schemathesis')
const TIME_LIMIT_MS = 800_000
/** Examples for each operation; SCHEMATHESIS_EXAMPLES asks for more. */
const EXAMPLES = Number(process.env.SCHEMATHESIS_EXAMPLES ?? 6)

/** What is drawn: without a key all is refused alike, and with one that only reads what the first run does not show. */
const PHASES = { write: 'examples,coverage,fuzzing', read: 'examples,fuzzing', no: 'examples' }

/** A check of an answer that failed. */
interface Failure {
  readonly operation: string
  readonly check: string
  readonly status: number
  readonly codes: readonly string[]
  readonly answer: string
}

/**
 * Codes of refusals that a schema cannot foresee: what is stored decides, or the grammar of a text (addresses,
 * calculations, times, zones, cursors).
 */
const BY_CONTENT: readonly string[] = [
  'INVALID_CURSOR',
  'INVALID_TAG_ADDRESS',
  'INVALID_TIME',
  'INVALID_TIME_ZONE',
  'TAG_NOT_FOUND',
  'TAG_EXISTS',
  'HISTORIAN_NOT_FOUND',
  'HISTORIAN_NOT_WRITABLE',
]
/** Answered with 200 where single labels or entries are refused, each with its issue. */
const BY_ENTRY = /^POST \/historian\/(multi|metadata\/(create|update|get))$/
/** The name in the body of an alias must be the one of its path, which no schema says. */
const isNameOfPath = ({ operation, answer }: Failure) =>
  operation === 'PUT /historian/aliases/{name}' && answer.includes('the name in the path is expected')

function isExpected(failure: Failure): boolean {
  const { check, status, codes, operation } = failure
  if (check === 'positive_data_acceptance' && status === 400)
    return codes.length > 0 && (codes.every((code) => BY_CONTENT.includes(code)) || isNameOfPath(failure))
  return check === 'negative_data_rejection' && status === 200 && codes.length > 0 && BY_ENTRY.test(operation)
}

async function failuresWith(key: string | null, url: string, phases: string): Promise<readonly Failure[]> {
  const cwd = await temporaryFolder()
  const budget = ['--max-examples', String(EXAMPLES), '--seed', '1', '--phases', phases]
  const report = ['--continue-on-failure', '--report', 'ndjson', '--report-dir', cwd]
  const auth = key === null ? [] : ['-H', `X-Api-Key: ${key}`]
  const args = ['run', `${url}/openapi.json`, '-c', 'all', ...budget, ...report, ...auth]
  const program = join(found.path!, '..', 'schemathesis')
  const child = spawn(program, args, { cwd, timeout: TIME_LIMIT_MS })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  // 1 is for checks that failed, which are looked at one by one.
  assert.ok(code === 0 || code === 1, `${code}: ${output}${errors}`)
  assert.match(output, /Tested: +\d{2}/)
  const [file] = globSync('*.ndjson', { cwd })
  return readFailures(join(cwd, file!))
}

// biome-ignore lint/suspicious/noExplicitAny: the tester's own records, of which few fields are read
type Json = any

function readFailures(file: string): readonly Failure[] {
  const failures: Failure[] = []
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const event: Json = JSON.parse(line)
    const recorder = event.ScenarioFinished?.recorder
    for (const [id, checks] of Object.entries<Json[]>(recorder?.checks ?? {})) {
      for (const { name, status } of checks) {
        if (status !== 'failure') continue
        const response = recorder.interactions[id]?.response
        const answer = Buffer.from(response?.content?.$base64 ?? '', 'base64').toString()
        failures.push({
          operation: recorder.label,
          check: name,
          status: response?.status_code,
          codes: codesOf(answer),
          answer,
        })
      }
    }
  }
  return failures
}

function codesOf(answer: string): readonly string[] {
  try {
    const { issues = [] }: Json = JSON.parse(answer)
    return issues.map(({ code }: Json) => code)
  } catch {
    return []
  }
}

describe('requests drawn from the served document', { skip: found.skip, timeout: 4 * TIME_LIMIT_MS }, () => {
  for (const access of ['write', 'read', 'no'] as const) {
    test(`are answered as it says, with ${access} key`, async () => {
      const service = await serve([], { cwd: await temporaryFolder() })
      const points = { 'local/FLOW': [{ timestamp: '2026-01-15T10:00:00Z', value: 1 }] }
      await service.post('/historian/write/points', { points, createTags: true }, service.writeKey)
      const key = { write: service.writeKey, read: service.readKey, no: null }[access]
      const failures = await failuresWith(key, service.url, PHASES[access])
      assert.deepEqual(failures.filter((failure) => !isExpected(failure)).slice(0, 5), [])
    })
  }
})
