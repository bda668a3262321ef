import type { Attack, Call } from './attack.ts'

const MIB = 1_048_576
/** A little less than the limits, so that a body is read to its end. */
const ROOM = 1_024

function post(path: string, text: string): Call {
  return { method: 'POST', path: `/historian/${path}`, body: Buffer.from(text) }
}

/** A text of so many bytes, of what a function gives by number, joined by commas. */
function filled(bytes: number, part: (i: number) => string): string {
  const parts: string[] = []
  for (let length = 0, i = 0; ; i++) {
    const next = part(i)
    length += next.length + 1
    if (length > bytes) return parts.join()
    parts.push(next)
  }
}

function labels(count: number, request: (i: number) => string): string {
  return `{"requests":{${Array.from({ length: count }, (_, i) => `"${i}":${request(i)}`).join()}}}`
}

/** Bodies at their limit, of the worst kinds. */
export function bodyAttacks(): readonly Attack[] {
  const eight = 8 * MIB - ROOM
  const most = 64 * MIB - ROOM
  const multi = (name: string, text: string) => ({
    name: `bodies/multi/${name}`,
    calls: [post('multi', text)],
  })
  const write = (name: string, text: string) => ({
    name: `bodies/write/${name}`,
    calls: [post('write/points', text)],
  })
  const kinds: readonly (readonly [string, (bytes: number) => string])[] = [
    ['arrays', (bytes) => filled(bytes, () => '[]')],
    ['objects', (bytes) => filled(bytes, () => '{}')],
    ['numbers', (bytes) => filled(bytes, () => '1')],
    ['texts', (bytes) => filled(bytes, (i) => `"${i}\\u0041"`)],
  ]
  return [
    ...kinds.map(([kind, make]) => multi(`8-MiB-of-${kind}`, `{"requests":{"a":[${make(eight)}]}}`)),
    multi('8-MiB-of-unknown-fields', `{"requests":{},${filled(eight, (i) => `"f${i}":1`)}}`),
    multi('8-MiB-of-labels', `{"requests":{${filled(eight, (i) => `"${i}":{}`)}}}`),
    multi('8-MiB-of-levels', '['.repeat(eight)),
    multi('8-MiB-of-one-number', `{"requests":${'1'.repeat(eight)}}`),
    multi(
      '100000-labels-of-one-tag',
      labels(100_000, () => '{"type":"CURRENT_POINT","tag":"local/T1"}'),
    ),
    multi(
      '100000-labels-of-no-historian',
      labels(100_000, () => '{"type":"CURRENT_POINT","tag":"no/T"}'),
    ),
    multi(
      '100000-labels-of-nothing',
      labels(100_000, () => 'null'),
    ),
    multi(
      '100000-names',
      labels(100_000, (i) => `{"type":"CURRENT_POINT","tag":"local/N${i}"}`),
    ),
    ...kinds.map(([kind, make]) => write(`64-MiB-of-${kind}`, `{"points":{"local/W":[${make(most)}]}}`)),
    write(
      '64-MiB-of-rows',
      `{"createTags":true,"now":null,"points":{"local/W":[${filled(most - 100, (i) => `{"timestamp":${i + 1},"value":1}`)}]}}`,
    ),
    write('64-MiB-of-wrong-rows', `{"points":{"local/W":[${filled(most, (i) => `{"timestamp":"x${i}"}`)}]}}`),
    write(
      '64-MiB-of-columns',
      `{"createTags":true,"now":null,"points":{"local/W":{"timestamps":[${filled(most / 2 - 100, (i) => String(i))}],"values":[]}}}`,
    ),
    write(
      '200000-tags',
      `{"createTags":true,"now":null,"points":{${filled(8 * MIB, (i) => `"local/W${i}":[]`)
        .split(',')
        .slice(0, 200_000)
        .join()}}}`,
    ),
    {
      name: 'bodies/metadata/200000-entries',
      calls: [
        post(
          'metadata/create',
          `{"entries":{${Array.from({ length: 200_000 }, (_, i) => `"local/M${i}":{}`).join()}}}`,
        ),
      ],
    },
    {
      name: 'bodies/metadata/get-200000-tags',
      calls: [
        post(
          'metadata/get',
          `{"tags":[${Array.from({ length: 200_000 }, (_, i) => `"local/M${i}"`).join()}]}`,
        ),
      ],
    },
    {
      name: 'bodies/rename/100000-tags',
      calls: [
        post(
          'metadata/rename',
          `{"renames":{${Array.from({ length: 100_000 }, (_, i) => `"local/M${i}":"local/R${i}"`).join()}}}`,
        ),
      ],
    },
    {
      name: 'bodies/delete/8-MiB-of-ranges',
      calls: [post('delete/points', `{"ranges":{"local/T1":[${filled(eight, () => '1')}]}}`)],
    },
    {
      name: 'bodies/delete/200000-ranges',
      calls: [
        post(
          'delete/points',
          `{"dryRun":true,"ranges":{"local/T1":[${Array.from({ length: 200_000 }, (_, i) => `{"from":${i},"to":${i + 1}}`).join()}]}}`,
        ),
      ],
    },
    {
      name: 'bodies/delete/100000-tags',
      calls: [
        post(
          'metadata/delete',
          `{"tags":[${Array.from({ length: 100_000 }, (_, i) => `"local/R${i}"`).join()}]}`,
        ),
      ],
    },
    {
      name: 'bodies/64-at-once/8-MiB-of-arrays',
      calls: Array.from({ length: 64 }, () =>
        post('multi', `{"requests":{"a":[${filled(eight, () => '[]')}]}}`),
      ),
    },
    {
      name: 'bodies/64-at-once/256-KiB-of-fields',
      calls: Array.from({ length: 64 }, () =>
        post('multi', `{"requests":{},${filled(MIB / 4 - ROOM, (i) => `"f${i}":{}`)}}`),
      ),
    },
    {
      name: 'bodies/64-at-once/10000-labels',
      calls: Array.from({ length: 64 }, () =>
        post(
          'multi',
          labels(10_000, () => '{"type":"CURRENT_POINT","tag":"no/T"}'),
        ),
      ),
    },
  ]
}

/** Patterns that make a matcher go back again and again, and long pages. */
export function searchAttacks(): readonly Attack[] {
  const search = (query: string): Call => ({ method: 'GET', path: `/historian/search?${query}`, body: null })
  const pattern = encodeURIComponent(`*${'a*'.repeat(20)}b`)
  const longest = encodeURIComponent('*a'.repeat(499))
  return [
    { name: 'search/backtracking', calls: [search(`search=${pattern}`)] },
    { name: 'search/longest-pattern', calls: [search(`search=${longest}`)] },
    { name: 'search/100000-tags', calls: [search('limit=100000')] },
    { name: 'search/64-at-once', calls: Array.from({ length: 64 }, () => search(`search=${pattern}`)) },
  ]
}
