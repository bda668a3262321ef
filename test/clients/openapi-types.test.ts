import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../cli/run.ts'
import { get, testService } from '../http/service.ts'
import { findServer } from '../servers/required.ts'

/** Types made from the served document by a tool that many use; `.ci/run` installs it with its compiler into .tools. */
const TOOLS = fileURLToPath(new URL('../../.tools/node_modules/.bin', import.meta.url))
const generator = findServer('openapi-typescript', join(TOOLS, 'openapi-typescript'))
const compiler = findServer('TypeScript for openapi-typescript', join(TOOLS, 'tsc'))

const IMPORT = "import type { components, paths } from './api.d.ts'\n"
const CALL = `
type Call = components['schemas']['MultiRequest']
type Answer = components['schemas']['MultiAnswer']
`

const RIGHT = `${IMPORT}${CALL}
const call: Call = {
  now: '2026-01-15T12:00:00Z',
  timeZone: 'Europe/Oslo',
  requests: {
    level: { type: 'CURRENT_POINT', tag: 'plant/LEVEL' },
    raw: { type: 'RAW_POINTS', tag: 'plant/FLOW', details: { from: 'today', leftBoundary: 'NEAREST', maxPoints: 10 } },
    day: { type: 'AGGREGATED_POINTS', tag: 'plant/FLOW', details: { from: 'today', aggregates: ['AVG'] } },
    chart: { type: 'PLOT', tag: 'plant/FLOW', details: { from: 'now-1d', width: 800 } },
  },
}
export function read(answer: Answer): readonly (number | null)[] {
  const found: (number | null)[] = []
  for (const [label, sentence] of Object.entries(answer.errors)) console.error(label, sentence)
  for (const issue of answer.issues ?? []) if (issue.code === 'TAG_NOT_FOUND') console.error(issue.tag)
  for (const result of Object.values(answer.results)) {
    if ('dataPoint' in result) found.push(result.dataPoint.value)
    else if ('dataPoints' in result) {
      if (Array.isArray(result.dataPoints)) for (const point of result.dataPoints) found.push(point.value)
      else found.push(...result.dataPoints.values)
    } else if ('aggregates' in result) console.log(result.aggregates)
    else if ('before' in result) found.push(result.before?.value ?? null)
    else console.log(result.intervals)
  }
  return found
}
type Written = paths['/historian/write/points']['post']['requestBody']['content']['application/json']
export const written: Written = {
  createTags: true,
  points: {
    'plant/FLOW': [{ timestamp: '2026-01-15T10:00:00Z', value: 1, status: 'BAD' }],
    'plant/LEVEL': { timestamps: [1768471200000], values: [2], unit: 'ms' },
  },
}
export type Refused = components['schemas']['ErrorByKey']
export const status: components['schemas']['Status'] = 'OK'
console.log(call)
`

/** Programs with one mistake each, and what stands at it. */
const WRONG: readonly (readonly [mistake: string, program: string])[] = [
  [
    'a request type that does not exist',
    "const call: Call = { requests: { a: { type: 'RAW', tag: 'p/A', details: {} } } }",
  ],
  [
    'a detail of another type',
    "const call: Call = { requests: { a: { type: 'HISTORICAL_POINT', tag: 'p/A', details: { at: true } } } }",
  ],
  [
    'a detail that is missing',
    "const call: Call = { requests: { a: { type: 'HISTORICAL_POINT', tag: 'p/A', details: {} } } }",
  ],
  [
    'a boundary that does not exist',
    "const call: Call = { requests: { a: { type: 'RAW_POINTS', tag: 'p/A', details: { leftBoundary: 'OPEN' } } } }",
  ],
  ['requests that are no object', 'const call: Call = { requests: 1 }'],
  ['a result that is not told apart', 'const read = (answer: Answer) => answer.results.a!.dataPoint.value'],
  [
    'a value that may be null',
    "const read = (answer: Answer): number => { const r = answer.results.a!; return 'dataPoint' in r ? r.dataPoint.value : 0 }",
  ],
  [
    'a code that does not exist',
    "const is = (issue: components['schemas']['Issue']) => issue.code === 'NO_SUCH_CODE'",
  ],
  ['a status that does not exist', "const status: components['schemas']['Status'] = 'GOOD'"],
]

describe('types that openapi-typescript makes of the served document', {
  skip: generator.skip || compiler.skip,
}, () => {
  let folder = ''
  /** Errors of the compiler, a line each. */
  let errors: readonly string[] = []
  before(async () => {
    folder = await temporaryFolder()
    writeFileSync(join(folder, 'api.json'), (await get(testService().app, '/openapi.json', {})).text)
    run(generator.path!, ['api.json', '-o', 'api.d.ts'], folder)
    const programs = [
      ['right.ts', RIGHT],
      ...WRONG.map(([, program], i) => [`wrong${i}.ts`, `${IMPORT}${CALL}export {}\n${program}\n`]),
    ] as const
    for (const [name, program] of programs) writeFileSync(join(folder, name!), program!)
    const checks = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--allowImportingTsExtensions']
    const target = ['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom']
    const output = run(compiler.path!, [...checks, ...target, ...programs.map(([name]) => name!)], folder)
    errors = output.split('\n').filter((line) => line.includes('error TS'))
  })
  const errorsIn = (name: string) => errors.filter((line) => line.startsWith(`${name}(`))

  test('a program that is right compiles', () => {
    assert.deepEqual(errorsIn('right.ts'), [])
  })

  for (const [i, [mistake]] of WRONG.entries()) {
    test(`refuse ${mistake}`, () => {
      const found = errorsIn(`wrong${i}.ts`)
      assert.equal(found.length > 0, true)
      for (const error of found) assert.match(error, /\.ts\(6,/)
    })
  }

  test('name each body of a request and of an answer', () => {
    const types = readFileSync(join(folder, 'api.d.ts'), 'utf8')
    const paths = types.slice(0, types.indexOf('export interface components'))
    const operations = types.slice(types.indexOf('export interface operations'))
    assert.ok(paths.length > 0 && operations.length > 0)
    for (const [, body] of operations.matchAll(/"application\/json": (.*)/g))
      assert.match(body!, /^components\["schemas"\]/)
  })
})

/** Output of a program that ends by itself, whatever its exit code. */
function run(program: string, args: readonly string[], cwd: string): string {
  const { stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 300_000 })
  assert.equal(error, undefined, stderr)
  return stdout
}
