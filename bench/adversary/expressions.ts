import type { Attack, Call } from './attack.ts'
import { ask, FROM, MOST_CHARACTERS, TO } from './calculations.ts'

/** A little less than the default limit of a body. */
const BODY_BYTES = 8 * 1_048_576 - 1_024

function post(path: string, body: object | string): Call {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { method: 'POST', path: `/historian/${path}`, body: Buffer.from(text) }
}

/** Arguments as long as the grammar takes them, other ones by each number. */
function filled(name: string, part: (i: number) => string, from = 0): { text: string; next: number } {
  const parts: string[] = []
  let i = from
  for (let length = name.length + 10; ; i++) {
    const next = part(i)
    length += next.length + 1
    if (length > MOST_CHARACTERS) return { text: `calc/${name}(${parts.join()})`, next: i }
    parts.push(next)
  }
}

/** As many labels as a body takes, each with a calculation as long as the grammar takes it, none like another. */
function longLabels(name: string, part: (i: number) => string, request: object, explain = false): Call {
  const entries: string[] = []
  for (let bytes = 0, from = 0, label = 0; ; label++) {
    const { text, next } = filled(name, part, from)
    from = next
    const entry = `"${label}":${JSON.stringify({ ...request, tag: text })}`
    bytes += entry.length + 1
    if (bytes > BODY_BYTES) break
    entries.push(entry)
  }
  return post('multi', `{${explain ? '"explain":true,' : ''}"now":"${TO}","requests":{${entries.join()}}}`)
}

const CURRENT = { type: 'CURRENT_POINT' }
const INTERPOLATED = { type: 'INTERPOLATED_POINTS', details: { from: FROM, to: TO, count: 10 } }
/** Characters of a text that is read as a time or a duration. */
const LONG = 100_000

/** As many labels as a body takes, each of a long list with functions around it as deep as the grammar takes them. */
function deepLabels(wrap: string, request: object): Call {
  const list = Array.from({ length: 4_700 }, () => '1').join()
  const entries: string[] = []
  for (let bytes = 0, label = 0; ; label++) {
    const tag = `calc/${`${wrap}(`.repeat(47)}ADD(${label},${list})${')'.repeat(47)}`
    const entry = `"${label}":${JSON.stringify({ ...request, tag })}`
    bytes += entry.length + 1
    if (bytes > BODY_BYTES) break
    entries.push(entry)
  }
  return post('multi', `{"now":"${TO}","requests":{${entries.join()}}}`)
}

/** Bodies full of calculations, texts that are read as times, and tags with very many state names. */
export function expressionAttacks(): readonly Attack[] {
  const texts: Readonly<Record<string, string>> = {
    digits: '1'.repeat(LONG),
    units: `${'1 hour and '.repeat(LONG / 11)}1 hour ago`,
    blanks: `now${' '.repeat(LONG)}x`,
    dates: `2026-01-01T00:00:00.${'0'.repeat(LONG)}Z`,
    zones: `2026-01-01T00:00:00[${'A/'.repeat(LONG / 2)}]`,
    rounds: `now${'-1d/d'.repeat(LONG / 5)}`,
    words: 'begin of next '.repeat(LONG / 14),
    periods: `P${'1D'.repeat(LONG / 2)}`,
  }
  return [
    { name: 'expressions/constants', calls: [longLabels('ADD', (i) => `${i}`, CURRENT)] },
    { name: 'expressions/constants-explained', calls: [longLabels('ADD', (i) => `${i}`, CURRENT, true)] },
    { name: 'expressions/constants-at-times', calls: [longLabels('ADD', (i) => `${i}`, INTERPOLATED)] },
    { name: 'expressions/medians', calls: [longLabels('MEDIAN', (i) => `${i}`, INTERPOLATED)] },
    { name: 'expressions/signals', calls: [longLabels('ADD', (i) => `siggen/sin${i}@9`, CURRENT)] },
    { name: 'expressions/functions', calls: [longLabels('ADD', (i) => `ABS(${i})`, INTERPOLATED)] },
    {
      name: 'expressions/totals',
      calls: [longLabels('ADD', (i) => `TOTALISE(${i},1d,${'00:00:00'},1h)`, INTERPOLATED)],
    },
    {
      name: 'expressions/shifts',
      calls: [longLabels('ADD', (i) => `TIMESHIFT(siggen/sin1@60,-${i})`, INTERPOLATED)],
    },
    { name: 'expressions/times', calls: [longLabels('ADD', (i) => `POINTINTIME(local/T1,-${i})`, CURRENT)] },
    { name: 'expressions/deep-names', calls: [deepLabels('ABS', CURRENT)] },
    { name: 'expressions/deep-names-of-filters', calls: [deepLabels('NOBAD', INTERPOLATED)] },
    {
      name: 'expressions/medians-of-constants',
      calls: [
        ask('INTERPOLATED_POINTS', filled('MEDIAN', () => '1').text, { from: FROM, to: TO, count: 90_000 }),
      ],
    },
    {
      name: 'expressions/medians-of-shifts',
      calls: [
        ask('PLOT', filled('MEDIAN', (i) => `TIMESHIFT(local/T1,-${i})`).text, {
          from: FROM,
          to: TO,
          width: 1_000,
        }),
      ],
    },
    ...Object.entries(texts).map(([name, text]) => ({
      name: `expressions/long-${name}`,
      calls: [
        post('multi', {
          requests: Object.fromEntries(
            Array.from({ length: 70 }, (_, i) => [
              i,
              { type: 'HISTORICAL_POINT', tag: 'local/T1', details: { at: text } },
            ]),
          ),
        }),
        post('multi', { now: text, requests: {} }),
        post('multi', { timeZone: text, requests: {} }),
        post('multi', {
          requests: Object.fromEntries(
            Array.from({ length: 70 }, (_, i) => [
              i,
              {
                type: 'MULTIPLE_AGGREGATED_POINTS',
                tag: 'local/T1',
                details: { from: FROM, to: TO, interval: text, anchor: text },
              },
            ]),
          ),
        }),
        post('write/points', {
          points: { 'local/T1': Array.from({ length: 70 }, () => ({ timestamp: text, value: 1 })) },
        }),
      ],
    })),
  ]
}
