import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { randomOf } from '../../../test/durability/random.ts'
import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import { writePart } from '../parts/parts.fixture.ts'
import { runMerge } from './run-merge.ts'

/*
 * What a merge holds at once: memory that is in use after a collection of garbage, looked at again and again in the
 * calls of the file layer. It is bounded whatever the inputs have: here twice the bound, and three times when unpacked.
 */

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const PARTS = 3
const POINTS = 1_600_000
/** 185 days from 2023-01-01 on: several outputs. */
const START = Date.UTC(2023, 0, 1) * 1_000
const STEP_US = 10_000_000
/** Pages of the inputs have 16 MB; blocks that are packed, and those that wait in each output, take the rest. */
const MOST_BYTES = 24 << 20
const CALLS_PER_LOOK = 100

function inUse(): number {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Values and times that cannot be packed well; those of each part lie between those of the others. */
function pointsOf(part: number): PointColumns {
  const random = randomOf(part + 1)
  const columns = makeColumns(POINTS)
  for (let i = 0; i < POINTS; i++) {
    columns.times[i] = START + i * STEP_US + part * 3_000_000 + random(1_000_000)
    columns.values[i] = random(2 ** 31) / 7
  }
  return columns
}

async function mergeRuns(t: TestContext, tags: number): Promise<void> {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, { cacheBytes: 0 })
  const inputs = []
  for (let part = 0; part < PARTS; part++) {
    const points = pointsOf(part)
    const each = POINTS / tags
    const runs = Array.from(
      { length: tags },
      (_, i) => [i + 1, sliceColumns(points, i * each, (i + 1) * each)] as const,
    )
    const sequences = [part + 1, part + 1] as const
    inputs.push(await writePart(store, `${part}.part`, { runs, tombstones: [] }, sequences))
  }
  const bytes = inputs.reduce((sum, info) => sum + info.bytes, 0)
  assert.ok(bytes > 2 * MOST_BYTES, `the inputs have ${bytes} bytes`)
  // What made the inputs may be freed some time after it was collected: the least that was ever seen is the base.
  let [least, most, looks] = [inUse(), 0, 0]
  const files = new FailingFiles(systemFiles, (_call, _path, number) => {
    if (number % CALLS_PER_LOOK === 0) {
      const bytes = inUse()
      least = Math.min(least, bytes)
      // Buffers that others have given up are freed with the first of them.
      if (looks++ > 3) most = Math.max(most, bytes)
    }
    return null
  })
  const order = {
    folder,
    inputs,
    others: [],
    tombstones: [],
    expired: null,
    namePrefix: 'm',
    firstNumber: 1,
    limits: { partitionBytes: 4 << 20, fanIn: 2, largestBytes: 1 << 30 },
  }
  const { added } = await runMerge(files, order, new AbortController().signal)
  t.diagnostic(
    `${bytes} bytes in, ${added.length} parts, ${most - least} bytes in use at most, ${looks} looks`,
  )
  assert.ok(added.length > 2 && looks > 20)
  assert.equal(
    added.reduce((sum, info) => sum + info.points, 0),
    PARTS * POINTS,
  )
  assert.ok(most - least > 1 << 20, 'what it holds is seen')
  assert.ok(most - least < MOST_BYTES, `${most - least} bytes are in use`)
}

test('one very long run in several parts is merged in bounded memory', (t) => mergeRuns(t, 1))

test('many tags with long runs in several parts are merged in bounded memory', (t) => mergeRuns(t, 500))
