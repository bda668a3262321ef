import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alwaysDue } from '../../test/always-due.ts'
import { historianWith, writeCall } from '../../test/write/call.ts'
import { deletePoints, deleteTags } from './corrections.ts'
import { createMetadata, getMetadata, updateMetadata } from './metadata.ts'
import { renameTags } from './rename.ts'
import { writePoints } from './write-points.ts'

const TAGS = 5_120
/** Entries between two looks at the clock. */
const STEP = 128
const nameOf = (index: number) => `tag ${index}`
const names = Array.from({ length: TAGS }, (_, index) => nameOf(index))

const byAddress = <Value>(of: (index: number) => Value) =>
  Object.fromEntries(names.map((name, index) => [`local/${name}`, of(index)]))

const metadata = byAddress(() => ({ units: 'bar' }))
const points = byAddress((index) => ({ timestamps: [index], values: [1] }))
const ranges = byAddress(() => [{ from: 0, to: 'now' }])

/** With how many passes over all tags rest on the way, at least: tags are read, looked up, handed over and told. */
const requests = [
  ['a write', 4, writePoints, { points }],
  ['metadata of tags that exist', 3, createMetadata, { entries: metadata, updateIfExists: true }],
  ['changes of metadata', 3, updateMetadata, { entries: metadata }],
  ['a look at metadata', 1, getMetadata, { tags: Object.keys(metadata) }],
  ['a deletion of points', 4, deletePoints, { ranges }],
  ['renames', 4, renameTags, { renames: byAddress((index) => `local/new ${index}`) }],
  ['a deletion of tags', 4, deleteTags, { tags: Object.keys(metadata) }],
] as const

for (const [title, passes, run, body] of requests) {
  test(`${title} of very many tags takes turns`, async (t) => {
    const local = await historianWith('local', names)
    const call = writeCall([local], { limits: { tags: TAGS, ranges: TAGS } })
    const rests = alwaysDue(t)
    const { outcome } = await run(body, call)
    assert.equal(outcome, 'done')
    assert.ok(rests() >= (passes * TAGS) / STEP, `${rests()} rests`)
  })
}
