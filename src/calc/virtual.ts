import { TidemarkError } from '../errors/tidemark-error.ts'
import { parseNumber } from '../grammar/number.ts'
import { ConstantSeries } from './constant-series.ts'
import type { Series, SeriesContext } from './series.ts'
import { dates } from './virtual/dates.ts'
import { siggen } from './virtual/siggen.ts'

/** A historian whose tags are computed from their names; nothing of it is stored. */
export interface VirtualHistorian {
  /** One sentence for the reference. */
  readonly summary: string
  /** What its tags are called, for the reference and editors: each form of name, with what it gives. */
  readonly tags: readonly VirtualTag[]
  /** Where the raw points of its tags stand, in a sentence. */
  readonly rawTimes: string
  /** Whether its tags are held between raw points, in a sentence. */
  readonly stepped: string
  /** The series of a tag; `null` when there is no such tag. */
  readonly series: (name: string, context: SeriesContext) => Series | null
}

/** One name of a tag, or one form of names. */
export interface VirtualTag {
  /** As it stands after the `/`; what is to be filled in stands in `<>`: `<number>`. */
  readonly name: string
  /** One sentence. */
  readonly summary: string
  /** A whole name of this form; left out where `name` is one itself. */
  readonly example?: string
}

const constants: VirtualHistorian = {
  summary: 'A number, the same at every time; constants/empty has no value at any time.',
  tags: [
    {
      name: '<number>',
      summary: 'That number; in a calculation the bare number is the same.',
      example: '-2.5',
    },
    { name: 'empty', summary: 'No value at any time: makes gaps.' },
  ],
  rawTimes: 'None.',
  stepped: 'Always.',
  series: (name) => {
    if (name.toLowerCase() === 'empty') return new ConstantSeries(Number.NaN)
    const value = parseNumber(name)
    return value === null ? null : new ConstantSeries(value)
  },
}

const value: VirtualHistorian = { ...constants, summary: 'Another name of constants.' }

/** All virtual historians by name, in lower case. */
export const VIRTUAL_HISTORIANS: ReadonlyMap<string, VirtualHistorian> = new Map([
  ['constants', constants],
  ['value', value],
  ['siggen', siggen],
  ['dates', dates],
  ['date', { ...dates, summary: 'Another name of dates.' }],
])

/** Whether a historian's tags are computed and need not be looked up anywhere. Its name is taken in any case. */
export function isVirtual(historian: string): boolean {
  return VIRTUAL_HISTORIANS.has(historian.toLowerCase())
}

/** The series of a virtual tag. Throws TAG_NOT_FOUND, or SIGNAL_NAME for a name that siggen cannot read. */
export function virtualSeries(historian: string, name: string, context: SeriesContext): Series {
  const series = VIRTUAL_HISTORIANS.get(historian.toLowerCase())?.series(name, context) ?? null
  if (series === null) throw new TidemarkError('TAG_NOT_FOUND', { historian, tag: name })
  return series
}
