import { type TimedRequest, timeRequests } from '../turns/time-requests.ts'

/**
 * The longest turn of the event loop of a real service while a read looks for the good points on both sides of a long
 * run of BAD ones; figures as in long-requests.bench.ts. BAD_RUN_POINTS takes another number of points, BAD_RUN_ROUNDS
 * of rounds; TURNS_PROFILE=1 prints what the longest turns did.
 */
const POINTS = Number(process.env.BAD_RUN_POINTS ?? 10_000_000)
const ROUNDS = Number(process.env.BAD_RUN_ROUNDS ?? 3)
const PER_REQUEST = 1_000_000
const START = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const END = START + POINTS * SECOND

/** BAD points but for the very first and the very last one. */
function columns(from: number, to: number): string {
  const timestamps = Array.from({ length: to - from }, (_, i) => START + (from + i) * SECOND)
  const values = timestamps.map((_, i) => (from + i) % 977)
  const statuses = timestamps.map((_, i) => (from + i === 0 || from + i === POINTS - 1 ? '"OK"' : '"BAD"'))
  const entry = `{"timestamps":[${timestamps}],"values":[${values}],"statuses":[${statuses}]}`
  return `{"points":{"local/ONE":${entry}},"createTags":true,"now":null}`
}

const interpolated = (at: number) =>
  `{"requests":{"a":{"type":"INTERPOLATED_POINTS","tag":"local/ONE","details":{"from":${at},"to":${at},"count":1}}}}`

const writes = Array.from({ length: Math.ceil(POINTS / PER_REQUEST) }, (_, part): TimedRequest => {
  const from = part * PER_REQUEST
  return [`write/${part}`, 'write/points', columns(from, Math.min(POINTS, from + PER_REQUEST))]
})
const requests: readonly TimedRequest[] = [
  ...writes,
  ['interpolated/in-the-middle', 'multi', interpolated(START + (POINTS / 2) * SECOND + 1)],
  ['interpolated/near-the-end', 'multi', interpolated(END - 2 * SECOND)],
  ['delete/tag', 'metadata/delete', '{"tags":["local/ONE"]}'],
]

const settings = { TIDEMARK_DEADLINE_SECONDS: '300', TIDEMARK_MAX_BYTES_IN_WORK: String(1_024 * 2 ** 20) }
const measurements = await timeRequests('bad-run', requests, ROUNDS, settings)
process.stdout.write(JSON.stringify(measurements.filter(({ name }) => !name.includes('write/'))))
