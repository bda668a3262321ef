import assert from 'node:assert/strict'
import { after } from 'node:test'
import fc from 'fast-check'
import type { TidemarkHistorian } from '../../../src/drivers/tidemark/driver.ts'
import type { MetadataPut } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../../src/series/columns.ts'
import { formatInstant } from '../../../src/time/format.ts'
import { type Instant, US_PER_SECOND } from '../../../src/time/instant.ts'
import { UTC } from '../../../src/time/zone.ts'
import { askBody, type Json, NOON } from '../../multi-harness.ts'
import { type Recording, recordingProxy } from './recording-proxy.ts'
import { configFor, connect, startUpstream } from './upstream.ts'

/** Requests through the driver, against the same requests of the other instance itself. */

const context = { signal: new AbortController().signal }
const HOUR = 3_600 * US_PER_SECOND
/** Where the points of these tests begin. */
export const START = NOON - 12 * HOUR

export const timeText = (us: number) => formatInstant(us as Instant, UTC)

export interface Step {
  readonly seconds: number
  readonly value: number
  readonly bad: boolean
}

/** Steps of a minute, of no rule, and of an hour and more. */
export const step = fc.record({
  seconds: fc.oneof(
    { weight: 5, arbitrary: fc.constant(60) },
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 400 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1_800, max: 7_200 }) },
  ),
  value: fc.integer({ min: -4, max: 4 }),
  bad: fc.nat(9).map((die) => die === 0),
})

export function seriesOf(steps: readonly Step[]): PointColumns {
  const points = makeColumns(steps.length)
  let at = START
  for (const [i, { seconds, value, bad }] of steps.entries()) {
    at += seconds * US_PER_SECOND
    points.times[i] = at
    points.values[i] = value
    if (bad) points.statuses[i] = STATUS_BAD
  }
  return points
}

/** Ranges of minutes before, in and after the points of 300 steps. */
export const range = fc
  .tuple(fc.integer({ min: -60, max: 700 }), fc.integer({ min: 1, max: 400 }))
  .map(([from, minutes]) => ({
    from: timeText(START + from * 60 * US_PER_SECOND),
    to: timeText(START + (from + minutes) * 60 * US_PER_SECOND),
  }))

export interface BothWays {
  readonly historian: TidemarkHistorian
  readonly recording: Recording
  /** Makes a tag with these points and gives its name. */
  makeTag(metadata: Partial<MetadataPut>, points: PointColumns): Promise<string>
  /**
   * The answers of both to the same labels, three hours before noon.
   * @param labels for a historian of this name
   */
  ask(
    labels: (historian: string) => readonly Json[],
  ): Promise<{ readonly direct: Json; readonly through: Json }>
}

/** Starts another instance, and connects to it through a proxy that counts what comes. */
export async function bothWays(): Promise<BothWays> {
  const upstream = await startUpstream('plant')
  const recording = await recordingProxy(upstream.service.url)
  const config = configFor(upstream, 'plant', { gzip: false, url: recording.url, metadataSeconds: 0 })
  const { historian } = await connect(config)
  after(() => historian.close())
  let tags = 0
  return {
    historian,
    recording,
    async makeTag(metadata, points) {
      const name = `T${++tags}`
      const put = { description: null, units: null, stepped: false, ...metadata }
      await historian.putTags([{ name, metadata: put }], 'create', context)
      await historian.write(writeBatch([{ tag: name, points }], false), context)
      return name
    },
    async ask(labels) {
      const now = timeText(NOON - 3 * HOUR)
      const requests = { ...labels('plant') }
      const { body } = await upstream.service.post('/historian/multi', { now, requests })
      recording.reset()
      const { json } = await askBody([historian], { now, requests: { ...labels('site') } })
      return { direct: body as Json, through: json }
    },
  }
}

/** Numbers may differ by a rounding, nothing else. */
export function assertSame(through: Json, direct: Json, place: string): void {
  if (typeof direct === 'number' && typeof through === 'number') {
    const allowed = 1e-9 * Math.max(1, Math.abs(direct))
    assert.ok(Math.abs(through - direct) <= allowed, `${place} is ${through}, not ${direct}`)
  } else if (isObject(direct) && isObject(through)) {
    assert.deepEqual(Object.keys(through), Object.keys(direct), place)
    for (const key of Object.keys(direct)) assertSame(through[key], direct[key], `${place}.${key}`)
  } else assert.equal(through, direct, place)
}

function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null
}
