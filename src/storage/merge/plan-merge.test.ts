import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PartInfo } from '../parts/part.ts'
import { cutsOf } from './cells.ts'
import { MERGE_LIMITS, type MergeLimits, type PlanMerge } from './merge.ts'
import { overlapOf } from './merges.fixture.ts'
import { monthOf, monthStart } from './months.ts'
import { planIdleMerge, planMerge, planThoroughMerge } from './plan-merge.ts'

const MB = 2 ** 20
const DAY = 86_400_000_000
const HOUR = DAY / 24
const nothing: ReadonlySet<string> = new Set()

function partOf(
  number: number,
  megabytes: number,
  [firstTime, lastTime]: readonly [number, number],
  sequence: readonly [number, number] = [number, number],
): PartInfo {
  return {
    name: `${number}.part`,
    bytes: Math.ceil(megabytes * MB),
    firstSequence: sequence[0],
    lastSequence: sequence[1],
    firstTime,
    lastTime,
    points: 1_000,
    tags: 10,
    tombstones: 0,
  }
}

const inOrder = (parts: readonly PartInfo[]) =>
  parts.toSorted((a, b) => a.lastSequence - b.lastSequence || a.firstTime - b.firstTime)

const namesOf = (parts: readonly PartInfo[], limits = MERGE_LIMITS, excluded = nothing) =>
  planMerge(inOrder(parts), limits, excluded)?.inputs.map(({ name }) => Number.parseInt(name, 10)) ?? null

/** What merging them would make, were the bytes spread evenly over their months. */
function merged(
  inputs: readonly PartInfo[],
  limits: MergeLimits,
  nextName: () => number,
): readonly PartInfo[] {
  const lastTime = Math.max(...inputs.map((part) => part.lastTime))
  const sequence: [number, number] = [
    Math.min(...inputs.map(({ firstSequence }) => firstSequence)),
    Math.max(...inputs.map(({ lastSequence }) => lastSequence)),
  ]
  const months = new Map<number, number>()
  for (const part of inputs) {
    const [from, to] = [monthOf(part.firstTime), monthOf(part.lastTime)]
    for (let month = from; month <= to; month++) {
      months.set(month, (months.get(month) ?? 0) + part.bytes / (to - from + 1))
    }
  }
  const firstTime = Math.min(...inputs.map((part) => part.firstTime))
  const total = [...months.values()].reduce((sum, bytes) => sum + bytes, 0)
  const cuts = total > limits.partitionBytes ? cutsOf(months, limits.partitionBytes) : []
  const inside = cuts.filter((cut) => cut > firstTime && cut <= lastTime)
  return [firstTime, ...inside].map((from, i) => {
    const to = inside[i] === undefined ? lastTime : inside[i] - 1
    let bytes = 0
    for (const [month, share] of months) if (month >= monthOf(from) && month <= monthOf(to)) bytes += share
    return partOf(nextName(), bytes / MB, [from, to], sequence)
  })
}

/** Flushes parts one after the other and merges all that is planned. */
function live(flushes: readonly PartInfo[], limits = MERGE_LIMITS) {
  let parts: readonly PartInfo[] = []
  let name = 1_000_000
  let written = 0
  let most = 0
  for (const flush of flushes) {
    parts = inOrder([...parts, flush])
    written += flush.bytes
    for (let merges = 0; ; merges++) {
      assert.ok(merges < 50, 'merging comes to an end')
      const plan = planMerge(parts, limits, nothing)
      if (plan === null) break
      const rest = parts.filter((part) => !plan.inputs.includes(part))
      const outputs = merged(plan.inputs, limits, () => name++)
      written += outputs.reduce((sum, { bytes }) => sum + bytes, 0)
      parts = inOrder([...rest, ...outputs])
      assert.equal(overlapOf(parts), null)
    }
    most = Math.max(most, parts.length)
  }
  const flushed = flushes.reduce((sum, { bytes }) => sum + bytes, 0)
  return { parts, most, amplification: written / flushed }
}

test('parts of about the same size are merged, and fewer are not', () => {
  const parts = [1, 2, 3, 4].map((number) => partOf(number, 1, [number * HOUR, (number + 1) * HOUR]))
  assert.deepEqual(namesOf(parts), [1, 2, 3, 4])
  assert.equal(namesOf(parts.slice(1)), null)
  const large = partOf(0, 900, [0, HOUR / 2])
  assert.deepEqual(namesOf([large, ...parts]), [1, 2, 3, 4])
})

test('what is damaged is left alone, and nothing is merged across it', () => {
  const parts = [1, 2, 3, 4, 5, 6].map((number) => partOf(number, 1, [0, DAY]))
  assert.equal(namesOf(parts, MERGE_LIMITS, new Set(['4.part'])), null)
  const apart = parts.map((part, i) => (i === 3 ? { ...part, firstTime: 9 * DAY, lastTime: 10 * DAY } : part))
  assert.deepEqual(namesOf(apart, MERGE_LIMITS, new Set(['4.part'])), [1, 2, 3, 5, 6])
})

test('nothing is merged across a part that is left alone and may take something away from older ones', () => {
  const plannedNames = (parts: readonly PartInfo[], plan: PlanMerge, excluded: ReadonlySet<string>) =>
    plan(inOrder(parts), MERGE_LIMITS, excluded)?.inputs.map(({ name }) => Number.parseInt(name, 10)) ?? null
  for (const points of [0, 1_000]) {
    const [firstTime, lastTime] =
      points === 0 ? [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] : [9 * DAY, 10 * DAY]
    const parts = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => partOf(number, 1, [0, DAY]))
    parts[2] = { ...parts[2]!, points, firstTime, lastTime, tombstones: 1 }
    const left = new Set(['3.part'])
    assert.deepEqual(namesOf(parts, MERGE_LIMITS, left), [4, 5, 6, 7, 8])
    assert.equal(namesOf(parts.slice(0, 6), MERGE_LIMITS, left), null)
    for (const plan of [planIdleMerge, planThoroughMerge]) {
      assert.deepEqual(plannedNames(parts.slice(0, 4), plan, left), [1, 2])
      assert.equal(plannedNames(parts.slice(1, 4), plan, left), null)
    }
  }
  // Records 5 to 9: what is newer than all of them is out of their reach, and so is one part by itself.
  const wide = { ...partOf(9, 1, [9 * DAY, 10 * DAY], [5, 9]), tombstones: 1 }
  const others = [
    partOf(1, 1, [0, DAY], [1, 9]),
    ...[10, 11, 12].map((number) => partOf(number, 1, [0, DAY])),
  ]
  assert.deepEqual(namesOf([...others, wide], MERGE_LIMITS, new Set(['9.part'])), [1, 10, 11, 12])
  const older = [partOf(1, 1, [0, DAY], [1, 8]), ...others.slice(1)]
  assert.equal(namesOf([...older, wide], MERGE_LIMITS, new Set(['9.part'])), null)
})

test('a part of tombstones alone hinders no merge and takes part in it', () => {
  const parts = [1, 2, 3, 4].map((number) => partOf(number, 1, [0, DAY]))
  parts[1] = {
    ...parts[1]!,
    points: 0,
    firstTime: Number.POSITIVE_INFINITY,
    lastTime: Number.NEGATIVE_INFINITY,
    tombstones: 3,
  }
  assert.deepEqual(namesOf(parts), [1, 2, 3, 4])
})

test('what came out of one merge is not merged again by itself', () => {
  const siblings = [0, 1, 2, 3, 4].map((month) =>
    partOf(month, 100, [monthStart(24_000 + month), monthStart(24_001 + month) - 1], [1, 50]),
  )
  assert.equal(namesOf(siblings), null)
})

test('a flush every minute for a month makes few parts, each byte written a few times', () => {
  const flushes = Array.from({ length: 43_200 / 10 }, (_, i) =>
    partOf(i + 1, 4, [i * 600_000_000 - 5_000_000, (i + 1) * 600_000_000]),
  )
  const { most, amplification } = live(flushes)
  assert.ok(most < 60, `${most} parts`)
  assert.ok(amplification < 8, `each byte is written ${amplification} times`)
})

test('a million tags have no more parts after 60 flushes than after 20, and never more than five', () => {
  const flush = (_: unknown, i: number) => partOf(i + 1, 5, [i * HOUR, i * HOUR])
  const after = (count: number) => live(Array.from({ length: count }, flush))
  assert.equal(after(20).most, 5)
  assert.equal(after(60).most, 5)
  assert.ok(after(60).parts.length <= after(20).parts.length)
  assert.ok(after(60).amplification < 5)
})

test('flushes of one size leave three parts for each fourfold of them at most, where merging keeps pace', () => {
  for (let count = 1; count <= 256; count += 5) {
    const flushes = Array.from({ length: count }, (_, i) => partOf(i + 1, 0.2, [i * HOUR, i * HOUR]))
    const { parts } = live(flushes)
    const most = 3 * Math.ceil(Math.log(count + 1) / Math.log(4))
    assert.ok(parts.length <= most, `${parts.length} parts of ${count}`)
  }
})

test('a backfill of five centuries in random order makes few parts', () => {
  const flushes = Array.from({ length: 300 }, (_, i) => partOf(i + 1, 8, [-270 * 365 * DAY, 229 * 365 * DAY]))
  const { most, amplification } = live(flushes)
  assert.ok(most < 40, `${most} parts`)
  assert.ok(amplification < 8, `each byte is written ${amplification} times`)
})

test('a backfill of two years beside what comes now ends in parts of a month', () => {
  const flushes = Array.from({ length: 1_000 }, (_, i) => {
    const now = 20_000 * DAY + i * HOUR
    return partOf(i + 1, 8, i % 2 === 0 ? [now - HOUR, now] : [now - 730 * DAY, now - 30 * DAY])
  })
  const { parts, most, amplification } = live(flushes)
  assert.ok(most < 150, `${most} parts`)
  assert.ok(amplification < 10, `each byte is written ${amplification} times`)
  assert.ok(parts.some((part) => part.bytes > 64 * MB && monthOf(part.firstTime) === monthOf(part.lastTime)))
})

test('whatever is flushed, what is newest stays newest, and merging comes to an end', () => {
  const span = fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 100 }))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(span, fc.constantFrom(0.01, 1, 4, 30)), { minLength: 1, maxLength: 80 }),
      (flushes) => {
        live(
          flushes.map(([[from, days], megabytes], i) =>
            partOf(i + 1, megabytes, [from * DAY, (from + days) * DAY + HOUR]),
          ),
        )
      },
    ),
    { numRuns: 100 },
  )
})

test('at rest what lies over each other is merged, however few layers there are', () => {
  const idle = (parts: readonly PartInfo[]) =>
    planIdleMerge(inOrder(parts), MERGE_LIMITS, nothing)?.inputs.map(({ name }) =>
      Number.parseInt(name, 10),
    ) ?? null
  const over = [partOf(1, 13, [0, DAY]), partOf(2, 6, [0, DAY]), partOf(3, 0.8, [0, DAY])]
  assert.equal(namesOf(over), null)
  assert.deepEqual(idle(over), [1, 2, 3])
  // Little beside much is not worth it, and neither is what stands side by side.
  assert.equal(idle([partOf(1, 13, [0, DAY]), partOf(2, 1, [0, DAY])]), null)
  assert.equal(
    idle([1, 2, 3, 4].map((number) => partOf(number, 5, [number * DAY, (number + 1) * DAY - 1]))),
    null,
  )
  // Cell by cell.
  const months = [0, 1].map((month): [number, number] => [
    monthStart(24_000 + month),
    monthStart(24_001 + month) - 1,
  ])
  const wide = [
    partOf(1, 100, months[0]!, [1, 9]),
    partOf(2, 100, months[1]!, [1, 9]),
    partOf(3, 90, months[1]!, [10, 12]),
  ]
  assert.deepEqual(idle(wide), [2, 3])
})

test('once in a long time what lies over each other is merged also where it is little', () => {
  const thorough = (parts: readonly PartInfo[]) =>
    planThoroughMerge(inOrder(parts), MERGE_LIMITS, nothing)?.inputs.length ?? null
  const month: [number, number] = [0, 30 * DAY]
  assert.equal(thorough([partOf(1, 67, month), partOf(2, 8, month)]), 2)
  assert.equal(planIdleMerge([partOf(1, 67, month), partOf(2, 8, month)], MERGE_LIMITS, nothing), null)
  assert.equal(thorough([partOf(1, 67, month), partOf(2, 1, month)]), null)
})

test('at rest runs of some hundred points that follow each other are joined, and those of thousands are not', () => {
  /** Layers of so many points a tag, one after the other in time, each of a day. */
  const layers = (pointsEach: readonly number[], tags = 1_000) =>
    pointsEach.map((each, i) => ({
      ...partOf(i + 1, (tags * (400 + 1.3 * each)) / MB, [i * DAY, (i + 1) * DAY - 1]),
      points: tags * each,
      tags,
    }))
  const idle = (parts: readonly PartInfo[], limits = MERGE_LIMITS) =>
    planIdleMerge(inOrder(parts), limits, nothing)?.inputs.map(({ name }) => Number.parseInt(name, 10)) ??
    null
  assert.deepEqual(idle(layers([1_280, 320, 320])), [1, 2, 3])
  assert.equal(idle(layers([10_000, 9_000])), null)
  // Much would be written again for little, and of small runs there is little to gain.
  assert.equal(idle(layers([5_000, 320])), null)
  assert.equal(idle(layers([200, 200])), null)
  // Where it could be cut apart again it would never end.
  const small: MergeLimits = { ...MERGE_LIMITS, partitionBytes: MB }
  const parts = layers([500, 500], 10_000)
  assert.deepEqual(idle(parts, small), [1, 2])
  assert.equal(idle([parts[0]!, { ...parts[1]!, firstTime: 40 * DAY, lastTime: 41 * DAY }], small), null)
})
