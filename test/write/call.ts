import type { Historian } from '../../src/historian/contract.ts'
import { HistorianRegistry } from '../../src/historian/registry.ts'
import { instantFromUs } from '../../src/time/instant.ts'
import { parseTimeZone } from '../../src/time/zone.ts'
import type { WriteCall } from '../../src/write/call.ts'
import { MemoryHistorian } from '../contract/memory-historian.ts'

/** 2026-01-15T12:00:00Z. */
export const NOW = instantFromUs(Date.UTC(2026, 0, 15, 12) * 1000)

/** A call as the service makes them, at NOW in Oslo. */
export function writeCall(historians: readonly Historian[], changes: Partial<WriteCall> = {}): WriteCall {
  return {
    historians: new HistorianRegistry(historians),
    now: NOW,
    defaultZone: parseTimeZone('Europe/Oslo')!,
    deadlineSeconds: 30,
    signal: new AbortController().signal,
    ...changes,
  }
}

/** A historian with these tags, linear and without points. */
export async function historianWith(
  name: string,
  tags: readonly string[] = [],
  options: { readonly writable?: boolean } = {},
): Promise<MemoryHistorian> {
  const filled = new MemoryHistorian(name)
  const metadata = { description: null, units: null, stepped: false }
  await filled.putTags(
    tags.map((tag) => ({ name: tag, metadata })),
    'create',
    context(),
  )
  if (options.writable !== false) return filled
  return Object.defineProperty(filled, 'capabilities', { value: { ...filled.capabilities, write: false } })
}

export function context() {
  return { signal: new AbortController().signal }
}

/** Everything that a historian holds, in printable form. */
export async function contents(historian: Historian): Promise<Record<string, unknown>> {
  const { tags } = await historian.searchTags({ pattern: null, after: null, limit: 100_000 }, context())
  const dump: Record<string, unknown> = Object.create(null)
  for (const { name, metadata } of tags) dump[name] = { ...metadata, points: await pointsOf(historian, name) }
  return dump
}

/** All points of a tag as [microseconds, value, status]. */
export async function pointsOf(historian: Historian, tag: string): Promise<readonly number[][]> {
  const all = { from: instantFromUs(-1e16), to: instantFromUs(1e16), order: 'asc', limit: 1_000_000 } as const
  const [range] = await historian.readRanges([{ tag, ...all }], context())
  const { times, values, statuses } = range!.points
  return Array.from(times, (time, index) => [time, values[index]!, statuses[index]!])
}
