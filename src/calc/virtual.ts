import { TidemarkError } from '../errors/tidemark-error.ts'
import { parseNumber } from '../grammar/number.ts'
import { ConstantSeries } from './constant-series.ts'
import type { Series, SeriesContext } from './series.ts'

/** A historian whose tags are computed from their names; nothing of it is stored. */
export interface VirtualHistorian {
  /** One sentence for the reference. */
  readonly summary: string
  /** The series of a tag; `null` when there is no such tag. */
  readonly series: (name: string, context: SeriesContext) => Series | null
}

const constants: VirtualHistorian = {
  summary: 'A number, the same at every time; constants/empty has no value at any time.',
  series: (name) => {
    if (name.toLowerCase() === 'empty') return new ConstantSeries(Number.NaN)
    const value = parseNumber(name)
    return value === null ? null : new ConstantSeries(value)
  },
}

const value: VirtualHistorian = {
  summary: 'Another name of constants.',
  series: constants.series,
}

/** All virtual historians by name, in lower case. */
export const VIRTUAL_HISTORIANS: ReadonlyMap<string, VirtualHistorian> = new Map([
  ['constants', constants],
  ['value', value],
])

/** Whether a historian's tags are computed and need not be looked up anywhere. Its name is taken in any case. */
export function isVirtual(historian: string): boolean {
  return VIRTUAL_HISTORIANS.has(historian.toLowerCase())
}

/** The series of a virtual tag. Throws TAG_NOT_FOUND. */
export function virtualSeries(historian: string, name: string, context: SeriesContext): Series {
  const series = VIRTUAL_HISTORIANS.get(historian.toLowerCase())?.series(name, context) ?? null
  if (series === null) throw new TidemarkError('TAG_NOT_FOUND', { historian, tag: name })
  return series
}
