import assert from 'node:assert/strict'
import { CALL_LIMITS, defaultsOf } from '../src/errors/limits.ts'
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

export const LIMITS: CallLimits = defaultsOf(CALL_LIMITS)

/** `10:00` and `10:00:00.5` are times of that day, anything else is read as the interface reads it. */
export function timeOf(text: string): Instant {
  const full = /^\d\d:\d\d/.test(text) ? `2026-01-15T${text}Z` : text
  const at = parseTime(full, { now: 0 as Instant, zone: UTC })
  assert.ok(at !== null, `${text} is a time`)
  return at
}

/** A point as a test writes it: `['10:00', 5]` or `['10:20', 99, 'BAD']`. */
export type TestPoint = readonly [time: string, value: number, status?: 'BAD']

/**
 * A point every so many minutes of the day of the tests, until that minute of it; with `bad`, one of so many is BAD.
 */
export function pointsEvery(minutes: number, { bad = 0, until = 780 } = {}): readonly TestPoint[] {
  return Array.from({ length: Math.floor(until / minutes) }, (_, i): TestPoint => {
    const at = i * minutes
    const time = `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`
    const value = Math.round(40 * Math.sin(i / 3)) / 8
    return bad > 0 && i % bad === 3 ? [time, value, 'BAD'] : [time, value]
  })
}

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
  await fill(historian, tags)
  return historian
}

/** Makes these tags in a historian. */
export async function fill(historian: Historian, tags: Readonly<Record<string, TestTag>>): Promise<void> {
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
  const text = Buffer.concat([...answer.chunks()]).toString()
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
  return resultOf(json, 'a') ?? { error: json.errors.a }
}

/** The result of a label with its cursor, where there is more. */
export function resultOf(body: Json, label: string): Json {
  const result = body.results[label]
  const next = body.next?.[label]
  return next === undefined ? result : { ...result, next }
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
