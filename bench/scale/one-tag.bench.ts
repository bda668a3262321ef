import { type TimedRequest, timeRequests } from '../turns/time-requests.ts'

/**
 * The longest turn of the event loop of a real service while one request works on very many points, or ranges, of one
 * tag; figures as in long-requests.bench.ts. ONE_TAG_POINTS takes another number of points, ONE_TAG_RANGES of ranges,
 * ONE_TAG_ROUNDS of rounds; TURNS_PROFILE=1 prints what the longest turns did.
 */
const POINTS = Number(process.env.ONE_TAG_POINTS ?? 1_000_000)
const RANGES = Number(process.env.ONE_TAG_RANGES ?? 50_000)
const ROUNDS = Number(process.env.ONE_TAG_ROUNDS ?? 5)
/** Labels of a read, each at a time of its own. */
const LABELS = 1_000
const START = Date.UTC(2026, 0, 1)
const SECOND = 1_000
/** Seconds from one range to the next one. */
const STEP = Math.floor(POINTS / RANGES)

/** The times of all points in an order: by a step that has no divisor in common with their number. */
function columns(placeOf: (index: number) => number): string {
  const timestamps = Array.from({ length: POINTS }, (_, index) => START + placeOf(index) * SECOND)
  const values = timestamps.map((_, index) => index % 977)
  return `{"points":{"local/ONE":{"timestamps":[${timestamps}],"values":[${values}]}},"createTags":true,"now":null}`
}

function ranges(second: number, isDryRun: boolean): string {
  const all = Array.from({ length: RANGES }, (_, index) => {
    const from = START + (index * STEP + second) * SECOND
    return `{"from":${from},"to":${from + SECOND}}`
  })
  return `{"ranges":{"local/ONE":[${all}]},"dryRun":${isDryRun}}`
}

const labels = Array.from({ length: LABELS }, (_, index) => {
  const at = START + Math.floor((index * POINTS) / LABELS) * SECOND + 1
  return `"${index}":{"type":"POINT_BEFORE","tag":"local/ONE","details":{"at":${at}}}`
})
const reads = `{"requests":{${labels}}}`

/** One round, in this order; the last one removes all. */
const requests: readonly TimedRequest[] = [
  ['write/in-order', 'write/points', columns((index) => index)],
  ['write/backwards', 'write/points', columns((index) => POINTS - 1 - index)],
  ['write/any-order', 'write/points', columns((index) => (index * 7_919) % POINTS)],
  ['read', 'multi', reads],
  ['delete/ranges', 'delete/points', ranges(1, false)],
  ['delete/ranges-again', 'delete/points', ranges(3, false)],
  ['delete/dry-run', 'delete/points', ranges(5, true)],
  ['read-after-deletion', 'multi', reads],
  ['delete/tag', 'metadata/delete', '{"tags":["local/ONE"]}'],
]

const settings = { TIDEMARK_DEADLINE_SECONDS: '300', TIDEMARK_MAX_BYTES_IN_WORK: String(1_024 * 2 ** 20) }
process.stdout.write(JSON.stringify(await timeRequests('one-tag', requests, ROUNDS, settings)))
