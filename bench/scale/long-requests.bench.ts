import { type TimedRequest, timeRequests } from '../turns/time-requests.ts'

/**
 * The longest turn of the event loop of a real service while it answers one request with very many tags: as long nobody
 * else gets an answer. The figure is processor time of the thread of the event loop, which other programs of the
 * machine do not change. LONG_TAGS takes another number of tags, LONG_ROUNDS of rounds; TURNS_PROFILE=1 prints what the
 * longest turns did.
 */
const TAGS = Number(process.env.LONG_TAGS ?? 200_000)
const ROUNDS = Number(process.env.LONG_ROUNDS ?? 7)
const START = Date.UTC(2026, 0, 1)

/** Bodies are made as text: an object of as many members would take longer than the call. */
function body(field: string, brackets: '{}' | '[]', member: (index: number) => string, rest = ''): string {
  const members = Array.from({ length: TAGS }, (_, index) => member(index)).join(',')
  return `{"${field}":${brackets[0]}${members}${brackets[1]}${rest}}`
}

const address = (index: number) => `local/PLANT${index % 2}/AREA${Math.floor(index / 1_000)}/UNIT-${index}.PV`
const renamed = (index: number) => `${address(index)}.OLD`

/** One round, in this order: what one makes the next one works on, and the last one removes all. */
const requests: readonly TimedRequest[] = [
  [
    'write/new-tags',
    'write/points',
    body(
      'points',
      '{}',
      (i) => `"${address(i)}":[{"timestamp":${START},"value":${i}}]`,
      ',"createTags":true,"now":null',
    ),
  ],
  [
    'write',
    'write/points',
    body('points', '{}', (i) => `"${address(i)}":[{"timestamp":${START + 60_000},"value":${i}}]`),
  ],
  [
    'metadata/overwrite',
    'metadata/create',
    body(
      'entries',
      '{}',
      (i) => `"${address(i)}":{"description":"Measurement ${i}","units":"bar"}`,
      ',"updateIfExists":true',
    ),
  ],
  [
    'metadata/update',
    'metadata/update',
    body('entries', '{}', (i) => `"${address(i)}":{"description":"Value ${i}","units":"bar","stepped":true}`),
  ],
  ['metadata/get', 'metadata/get', body('tags', '[]', (i) => `"${address(i)}"`)],
  [
    'multi/current',
    'multi',
    body('requests', '{}', (i) => `"${i}":{"type":"CURRENT_POINT","tag":"${address(i)}"}`),
  ],
  [
    'delete/points',
    'delete/points',
    body('ranges', '{}', (i) => `"${address(i)}":[{"from":${START},"to":${START + 60_000}}]`),
  ],
  ['metadata/rename', 'metadata/rename', body('renames', '{}', (i) => `"${address(i)}":"${renamed(i)}"`)],
  ['metadata/delete', 'metadata/delete', body('tags', '[]', (i) => `"${renamed(i)}"`)],
  ['metadata/create', 'metadata/create', body('entries', '{}', (i) => `"${address(i)}":{"units":"bar"}`)],
  ['metadata/delete-empty', 'metadata/delete', body('tags', '[]', (i) => `"${address(i)}"`)],
]

const limits = {
  TIDEMARK_DEADLINE_SECONDS: '300',
  TIDEMARK_TAGS: String(TAGS),
  TIDEMARK_RANGES: String(TAGS),
  TIDEMARK_LABELS: String(TAGS),
  TIDEMARK_TAG_NAMES: String(TAGS),
  TIDEMARK_EFFECTIVE_TAGS: String(TAGS),
  TIDEMARK_REQUESTED_POINTS: String(10 * TAGS),
  TIDEMARK_HISTORIAN_LOAD: String(10 * TAGS),
  TIDEMARK_BODY_LIMIT_BYTES: String(256 * 2 ** 20),
  TIDEMARK_WRITE_BODY_LIMIT_BYTES: String(256 * 2 ** 20),
  TIDEMARK_MAX_BYTES_IN_WORK: String(1_024 * 2 ** 20),
}

process.stdout.write(JSON.stringify(await timeRequests('long-requests', requests, ROUNDS, limits)))
