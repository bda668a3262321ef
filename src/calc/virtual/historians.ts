import { TidemarkError } from '../../errors/tidemark-error.ts'
import { parseNumber } from '../../grammar/number.ts'
import type { Operator, OperatorContext } from '../graph/operator.ts'
import { ConstantLeaf } from '../leaves/constant.ts'
import { dates } from './dates.ts'
import { siggen } from './siggen.ts'
import type { VirtualHistorian } from './virtual-historian.ts'

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
  leaf: (name, context) => {
    if (name.toLowerCase() === 'empty') return ConstantLeaf.of(Number.NaN, context)
    const value = parseNumber(name)
    return value === null ? null : ConstantLeaf.of(value, context)
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

/** The leaf of a virtual tag. Throws TAG_NOT_FOUND, or SIGNAL_NAME for a name that siggen cannot read. */
export function virtualLeaf(historian: string, name: string, context: OperatorContext): Operator {
  const leaf = VIRTUAL_HISTORIANS.get(historian.toLowerCase())?.leaf(name, context) ?? null
  if (leaf === null) throw new TidemarkError('TAG_NOT_FOUND', { historian, tag: name })
  return leaf
}
