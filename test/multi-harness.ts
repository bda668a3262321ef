import assert from 'node:assert/strict'
import type { Historian } from '../src/historian/contract.ts'
import { HistorianRegistry } from '../src/historian/registry.ts'
import { writeBatch } from '../src/historian/write-batch.ts'
import type { CallLimits } from '../src/multi/limit.ts'
import { type MultiAnswer, runMulti } from '../src/multi/run.ts'
import { makeColumns, STATUS_BAD, STATUS_OK } from '../src/series/columns.ts'
import type { Instant } from '../src/time/instant.ts'
import { parseTime } from '../src/time/parse.ts'
import { UTC } from '../src/time/zone.ts'
import { MemoryHistorian } from './contract/memory-historian.ts'

/** Noon of the day that the tests of multi play on. */
export const NOON = timeOf('2026-01-15T12:00:00Z')

export const LIMITS: CallLimits = {
  requestedPoints: 100_000,
  historianLoad: 500_000,
  effectiveTags: 100,
  aggregateWindows: 100_000,
  deadlineSeconds: 30,
}

/** `10:00` and `10:00:00.5` are times of that day, anything else is read as the interface reads it. */
export function timeOf(text: string): Instant {
  const full = /^\d\d:\d\d/.test(text) ? `2026-01-15T${text}Z` : text
  const at = parseTime(full, { now: 0 as Instant, zone: UTC })
  assert.ok(at !== null, `${text} is a time`)
  return at
}

/** A point as a test writes it: `['10:00', 5]` or `['10:20', 99, 'BAD']`. */
export type TestPoint = readonly [time: string, value: number, status?: 'BAD']

export interface TestTag {
  readonly stepped?: boolean
  readonly points: readonly TestPoint[]
}

/** A historian in memory that holds these tags. */
export async function historianOf(
  name: string,
  tags: Readonly<Record<string, TestTag>>,
): Promise<MemoryHistorian> {
  const historian = new MemoryHistorian(name)
  const context = { signal: new AbortController().signal }
  for (const [tag, { stepped = false, points }] of Object.entries(tags)) {
    await historian.putTags(
      [{ name: tag, metadata: { description: null, units: null, stepped } }],
      'create',
      context,
    )
    const columns = makeColumns(points.length)
    points.forEach(([time, value, status], index) => {
      columns.times[index] = timeOf(time)
      columns.values[index] = value
      columns.statuses[index] = status === 'BAD' ? STATUS_BAD : STATUS_OK
    })
    await historian.write(writeBatch([{ tag, points: columns }], false), context)
  }
  return historian
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
export type Json = any

export interface Asked {
  readonly answer: MultiAnswer
  readonly text: string
  readonly json: Json
}

export interface AskOptions {
  readonly limits?: Partial<CallLimits>
  readonly signal?: AbortSignal
  readonly defaultHistorian?: string | null
  readonly now?: Instant
}

/** Sends a body through the whole pipeline, from parsed JSON to the text of the answer. */
export async function askBody(
  historians: readonly Historian[],
  body: unknown,
  options: AskOptions = {},
): Promise<Asked> {
  const answer = await runMulti(body, {
    historians: new HistorianRegistry(historians),
    limits: { ...LIMITS, ...options.limits },
    defaultZone: UTC,
    defaultHistorian: options.defaultHistorian ?? null,
    now: options.now ?? NOON,
    signal: options.signal ?? new AbortController().signal,
  })
  const text = Buffer.concat([...answer.pieces()]).toString()
  return { answer, text, json: JSON.parse(text) }
}

/** The answer to one request under the label `a`: its result, or `{ error }`. */
export async function askOne(
  historians: readonly Historian[],
  type: string,
  tag: string,
  details: object = {},
  options: AskOptions & { readonly call?: object } = {},
): Promise<Json> {
  const { json } = await askBody(
    historians,
    { ...options.call, requests: { a: { type, tag, details } } },
    options,
  )
  return json.results.a ?? { error: json.errors.a }
}

/** Points of an answer on the day of the tests: `10:00 5`, `10:20 99 BAD`, `09:00 null BAD`. */
export function show(points: Json): readonly string[] {
  return points.map(showPoint)
}

export function showPoint(point: Json): string {
  if (point === null) return 'none'
  const time = point.timestamp
    .replace('2026-01-15T', '')
    .replace('Z', '')
    .replace(/:00\.000$/, '')
    .replace(/\.000$/, '')
  return `${time} ${point.value}${point.status === 'OK' ? '' : ` ${point.status}`}`
}
