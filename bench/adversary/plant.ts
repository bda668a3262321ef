import { expect } from '../measure.ts'
import type { Victim } from './victim.ts'

export const START_MS = Date.UTC(2026, 0, 1)
export const SEARCHED_TAGS = 100_000
const SECONDS = 20_000
const TAGS = 64
const PER_REQUEST = 50_000

/** Tags `local/T0` to `T63` with a point each second, `local/S0` ... without points for searches. */
export async function fillPlant(victim: Victim): Promise<void> {
  const timestamps = Array.from({ length: SECONDS }, (_, i) => START_MS + i * 1_000)
  for (let tag = 0; tag < TAGS; tag++) {
    const values = timestamps.map((_, i) => Math.round(1_000 * Math.sin((i + tag) / 100)) / 10)
    const body = { createTags: true, points: { [`local/T${tag}`]: { timestamps, values, unit: 'ms' } } }
    await post(victim, '/historian/write/points', body)
  }
  for (let first = 0; first < SEARCHED_TAGS; first += PER_REQUEST) {
    const entries: Record<string, object> = {}
    for (let i = first; i < first + PER_REQUEST; i++) {
      entries[`local/S${'a'.repeat(i % 40)}${i}`] = { description: 'a'.repeat(60) }
    }
    await post(victim, '/historian/metadata/create', { entries })
  }
}

async function post(victim: Victim, path: string, body: object): Promise<void> {
  const { end } = await victim.send('POST', path, Buffer.from(JSON.stringify(body)), 120_000)
  expect(end === '200', `the plant was filled: ${path} ended with ${end}`)
}
