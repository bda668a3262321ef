import type { RunningService } from '../cli/run.ts'

/** A local instant of the plant, in the zone of the page; the clocks go forward on 29 March at 02:00. */
export const NOW = '2026-03-31T12:00:00+02:00'
export const ZONE = 'Europe/Oslo'

type Row = readonly [time: string, value: number | null, status?: 'BAD']

const MINUTE_MS = 60_000
const FIRST = Date.parse('2026-03-23T00:00:00+01:00')
const LAST = Date.parse(NOW)

/** Every ten minutes until now, with the local hour of the day. */
function everyTenMinutes(value: (hour: number, local: string) => number | null): Row[] {
  const rows: Row[] = []
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: ZONE,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  for (let at = FIRST; at < LAST; at += 10 * MINUTE_MS) {
    const local = format.format(at)
    const found = value(Number(local.slice(11, 13)) + Number(local.slice(14)) / 60, local)
    if (found !== null) rows.push([new Date(at).toISOString(), found])
  }
  return rows
}

/** 60 m3/h in the morning shift, 90 in the afternoon, 30 at night. */
const flow = everyTenMinutes((hour) => (hour >= 6 && hour < 14 ? 60 : hour >= 14 && hour < 22 ? 90 : 30))

/** Up from 80 at midnight to 92 at noon and down again; one spike, two BAD points, two hours without a point. */
const temperature = everyTenMinutes((hour, local) => {
  if (local > '2026-03-30 13:00' && local < '2026-03-30 15:00') return null
  if (local === '2026-03-28 15:40') return 99
  return Math.round((92 - Math.abs(12 - hour)) * 10) / 10
}).map(([time, value]): Row => {
  const isBad = time === '2026-03-30T07:00:00.000Z' || time === '2026-03-30T07:10:00.000Z'
  return isBad ? [time, value, 'BAD'] : [time, value]
})

/** From six in the morning until eight at night, with a short stop on Friday; since Monday it stands. */
const run: Row[] = ['23', '24', '25', '26', '27', '28', '29'].flatMap((day): Row[] => [
  [`2026-03-${day}T06:00:00`, 1],
  ...(day === '27'
    ? ([
        ['2026-03-27T12:00:00', 0],
        ['2026-03-27T12:03:00', 1],
      ] as const)
    : []),
  [`2026-03-${day}T20:00:00`, 0],
])

/** 25 m3 an hour; the meter was exchanged on Thursday at noon. */
const meter = everyTenMinutes((_, local) => {
  const hours =
    (Date.parse(`${local.replace(' ', 'T')}:00Z`) - Date.parse('2026-03-23T00:00:00Z')) / 3_600_000
  if (!local.endsWith(':00')) return null
  return local < '2026-03-26 12:00' ? 1_000 + 25 * hours : 25 * (hours - 84)
})

const level: Row[] = everyTenMinutes((hour) => Math.round(50 + hour)).filter(
  ([time]) => time < '2026-03-30T05:30',
)

const batch: Row[] = [
  ['2026-03-30T00:00:00', 0],
  ['2026-03-30T08:00:00', 1],
  ['2026-03-30T10:30:00', 0],
  ['2026-03-30T16:00:00', 1],
  ['2026-03-30T18:10:00', 0],
  ['2026-03-31T08:20:00', 1],
]

const TAGS: Readonly<Record<string, { readonly rows: readonly Row[]; readonly metadata: object }>> = {
  FLOW: { rows: flow, metadata: { description: 'Feed flow', units: 'm3/h', stepped: true } },
  TEMP: {
    rows: temperature,
    metadata: { description: 'Reactor temperature', units: 'degC', maxGap: '30min' },
  },
  RUN: {
    rows: run,
    metadata: { description: 'Feed pump', states: { 0: 'Stopped', 1: 'Running' } },
  },
  METER: { rows: meter, metadata: { description: 'Water meter', units: 'm3' } },
  LEVEL: { rows: level, metadata: { description: 'Feed tank level', units: '%' } },
  BATCH: { rows: batch, metadata: { description: '1 while a batch is made', stepped: true } },
}

/** Writes the plant of the page into the historian `plant`. */
export async function writePlant(service: RunningService): Promise<void> {
  const entries = Object.fromEntries(
    Object.entries(TAGS).map(([name, { metadata }]) => [`plant/${name}`, metadata]),
  )
  const points = Object.fromEntries(
    Object.entries(TAGS).map(([name, { rows }]) => [
      `plant/${name}`,
      rows.map(([timestamp, value, status = 'OK']) => ({ timestamp, value, status })),
    ]),
  )
  for (const [path, body] of [
    ['/historian/metadata/create', { entries }],
    ['/historian/write/points', { points, timeZone: ZONE }],
  ] as const) {
    const answer = await service.post(path, body, service.writeKey)
    if (answer.status !== 200 || Object.keys(answer.body.errors as object).length > 0)
      throw new Error(JSON.stringify(answer.body).slice(0, 500))
  }
}
