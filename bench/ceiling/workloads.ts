import { seededRandom } from '../measure.ts'

/** Points that are sent in requests of one shape by several writers at once. */
export interface Workload {
  /** Stable: `1000-tags-10-points`. */
  readonly name: string
  readonly tags: number
  /** Of each tag in each request. */
  readonly points: number
  /** In one round: enough for a million points or more, so that each flushes about what it brings. */
  readonly requests: number
  readonly writers: number
}

export type Form = 'rows' | 'columns'

export const WORKLOADS: readonly Workload[] = [
  { name: '1000-tags-10-points', tags: 1_000, points: 10, requests: 300, writers: 2 },
  { name: '10000-tags-1-point', tags: 10_000, points: 1, requests: 200, writers: 2 },
  { name: '1-tag-50000-points', tags: 1, points: 50_000, requests: 100, writers: 2 },
]

/** The answer of both servers; a client that sees another one has measured nothing. */
export const WRITTEN = '{"message":"All points written!","errors":[]}'

const START_MS = Date.UTC(2026, 0, 1)
/** Values are taken from so many, written out once: making the text of each would take longer than sending it. */
const VALUES = 4_096

/**
 * The bodies of a round, as bytes. Each tag has a point a second; the rounds follow each other in time, so that every
 * round adds points and replaces none.
 */
export function makeBodies(workload: Workload, form: Form, round: number): Buffer[] {
  const random = seededRandom(round + 1)
  const values = Array.from({ length: VALUES }, () => String(Math.round(random() * 100_000) / 1_000))
  const { tags, points, requests } = workload
  let next = 0
  const value = () => values[next++ % VALUES]!
  return Array.from({ length: requests }, (_, request) => {
    const start = START_MS + (round * requests + request) * points * 1_000
    const entries = Array.from({ length: tags }, (_, tag) => {
      const times = Array.from({ length: points }, (_, point) => start + point * 1_000)
      const body =
        form === 'rows'
          ? `[${times.map((time) => `{"timestamp":${time},"value":${value()}}`).join(',')}]`
          : `{"unit":"ms","timestamps":[${times.join(',')}],"values":[${times.map(value).join(',')}]}`
      return `"local/PLANT.UNIT${tag % 37}.T${tag}":${body}`
    })
    return Buffer.from(`{"createTags":true,"points":{${entries.join(',')}}}`)
  })
}
