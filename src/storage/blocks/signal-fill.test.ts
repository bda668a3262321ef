import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import type { PointColumns } from '../../series/columns.ts'
import { goodPoints, valuesFromPoints } from '../../series/interpolate.ts'
import { instantFromUs } from '../../time/instant.ts'
import { Damage } from '../damage.ts'
import { packBlocks } from '../parts/pack-blocks.ts'
import { BlockView } from './block.ts'
import { picks, somePoints, someTimes } from './points.fixture.ts'
import { SignalFill } from './signal-fill.ts'

/** The first block of compressed points; nothing when there are more. */
function packed(points: PointColumns): Uint8Array | null {
  const blocks: Uint8Array[] = []
  packBlocks(points, true, (block) => blocks.push(block.slice()))
  return blocks.length > 1 ? null : blocks[0]!
}

const shape = { holdUntil: instantFromUs(0) }

test('a block of any kind gives the values between its good points, and leaves the times beside them', () => {
  const view = new BlockView()
  let filled = 0
  fc.assert(
    fc.property(
      somePoints(1_500),
      picks,
      fc.boolean(),
      fc.constantFrom('packed', 'memory'),
      (points, picked, stepped, kind) => {
        const count = points.times.length
        const block = packed(points)
        if (kind === 'memory') view.openColumns(points, 0, count)
        else if (block === null) return
        else view.open(block, block.length)
        const { times } = goodPoints(points)
        // The fill begins within the block, where its caller brings it.
        const asked = someTimes(points, picked).filter((at) => at >= points.times[0]!)
        const within = asked.filter((at) => at >= (times[0] ?? Number.NaN) && at <= times.at(-1)!)
        if (asked.length === 0) return
        const fill = new SignalFill(asked, { ...shape, stepped })
        const isMoving = within.length > 0 && within[0] === asked[0]
        assert.equal(fill.takeBlock(view), isMoving)
        if (!isMoving) return
        filled++
        assert.equal(fill.isDone, within.length === asked.length)
        if (!fill.isDone) assert.equal(fill.at, asked[within.length])
        const expected = valuesFromPoints(points, null, null, within, { ...shape, stepped }, 'at')
        assert.deepEqual(fill.values.subarray(0, within.length), expected)
      },
    ),
    { numRuns: 400 },
  )
  assert.ok(filled > 100, `${filled} were filled`)
})

test('bytes that pass the checksum but are no block give damage or values, and come to an end', () => {
  const view = new BlockView()
  fc.assert(
    fc.property(
      somePoints(1_500),
      picks,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 20 }),
      (points, picked, changes) => {
        const block = packed(points)
        if (block === null) return
        const bytes = new Uint8Array(block)
        for (const [at, value] of changes) bytes[1 + (at % (bytes.length - 1))] = value
        new DataView(bytes.buffer).setUint32(4, 0, true)
        new DataView(bytes.buffer).setUint32(4, crc32(bytes), true)
        const fill = new SignalFill(someTimes(points, picked), { ...shape, stepped: false })
        try {
          view.open(bytes, bytes.length).verify()
          fill.takeBlock(view)
        } catch (error) {
          assert.ok(error instanceof Damage, String(error))
        }
      },
    ),
    { numRuns: 500 },
  )
})
