import assert from 'node:assert/strict'
import test from 'node:test'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { logFailures } from './log-failures.ts'

interface Line {
  readonly err?: Error
  readonly count: number
  readonly outcome?: string
  readonly message: string
}

function logged(failures: readonly unknown[]): readonly Line[] {
  const lines: Line[] = []
  const log = {
    warn: (fields: object, message: string) => void lines.push({ ...(fields as Line), message }),
  }
  logFailures(log, failures, 'a label failed', { outcome: 'done' })
  return lines
}

function unreachable(historian: string): TidemarkError {
  return new TidemarkError('HISTORIAN_UNAVAILABLE', { historian, reason: 'it is down' })
}

test('each distinct cause of a call is one line with its count', () => {
  const shared = unreachable('lab')
  const failures = [
    ...Array.from({ length: 1_000 }, () => shared),
    ...Array.from({ length: 500 }, () => unreachable('plant')),
    new RangeError('a bug'),
  ]
  const lines = logged(failures)
  assert.deepEqual(
    lines.map(({ count }) => count),
    [1_000, 500, 1],
  )
  assert.equal(lines[0]!.err, shared)
  assert.deepEqual(
    new Set(lines.map(({ message, outcome }) => `${message}, ${outcome}`)),
    new Set(['a label failed, done']),
  )
})

test('more than twenty distinct causes are counted in one last line', () => {
  const lines = logged(Array.from({ length: 100 }, (_, i) => unreachable(`h${i}`)))
  assert.equal(lines.length, 21)
  assert.deepEqual([lines.at(-1)!.count, lines.at(-1)!.err], [80, undefined])
})

test('nothing went wrong, nothing is logged', () => {
  assert.deepEqual(logged([]), [])
})
