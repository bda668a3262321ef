import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PartInfo } from '../parts/part.ts'
import { chooseParts } from './choose-parts.ts'

/** Parts as `name` or `name=replaced+replaced`; those that count. */
function chosen(parts: string): string {
  const found = parts.split(' ').map((part, i) => {
    const [name, replaces] = part.split('=')
    const info = { name, lastSequence: i, firstTime: 0 } as PartInfo
    return { info, replaces: replaces?.split('+') ?? [] }
  })
  const names = chooseParts(found).map(({ name }) => name)
  return names.join(' ')
}

for (const [what, parts, expected] of [
  ['parts of flushes count', 'a b c', 'a b c'],
  ['what a merge made does not count while all that it replaces is there', 'a b c m=a+b', 'a b c'],
  ['what a merge made counts when one that it replaced is gone', 'b c m=a+b', 'c m'],
  ['all of what a merge made counts', 'b m=a+b n=a+b', 'm n'],
  ['of merges over each other the inputs of all count while they are there', 'a b c m=a+b q=m+c', 'a b c'],
  ['what was replaced by what was replaced counts no more', 'a b m=a+b q=m+c', 'q'],
  ['what else the same merge made counts', 'a b m=a+b n=a+b q=m+c', 'n q'],
  ['a part that was written anew takes the place of the one before', 'b m=a', 'b m'],
] as const) {
  test(what, () => assert.equal(chosen(parts), expected))
}
