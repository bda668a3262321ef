import type { ErrorCode } from '../../errors/codes.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { Operator } from '../graph/operator.ts'
import type { BoundArguments } from './bound-arguments.ts'
import { defineFunction, seriesParameter } from './define.ts'

export const iftagexists = defineFunction({
  name: 'IFTAGEXISTS',
  aliases: [],
  section: 'logic',
  parameters: [{ ...seriesParameter('a'), mayFail: true }, seriesParameter('b')],
  summary:
    'The first input if its tag exists, for a calculation if it parses and all its tags exist; otherwise the second.',
  details:
    'Decided before anything is evaluated: the answer is that of the chosen input in every way, and the other one is not read. A tag that exists and has no points is chosen. A historian that cannot be reached is an error, since nobody knows what it has.',
  rawTimes: 'Those of the chosen input.',
  stepped: 'When the chosen input is.',
  nulls: 'As the chosen input.',
  cost: 'That of the chosen input.',
  examples: [
    { calculation: 'IFTAGEXISTS(3, 7)', value: 3 },
    { calculation: 'IFTAGEXISTS(constants/none, 7)', value: 7 },
    { calculation: 'IFTAGEXISTS(ADD(3, constants/none), 7)', value: 7 },
    { calculation: 'IFTAGEXISTS(ADD(3,), 7)', value: 7 },
  ],
  source: 'docs/calculations.md#iftagexists',
  build: (args) => existing(args) ?? args.series('b'),
})

/** The first input, `null` when it cannot be had. */
function existing(args: BoundArguments): Operator | null {
  if (args.isBroken('a')) return null
  try {
    return args.series('a')
  } catch (error) {
    if (error instanceof TidemarkError && MISSING.has(error.code)) return null
    throw error
  }
}

/** What says that a tag is not there, or, behind an alias, that what should be there cannot be read. */
const MISSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TAG_NOT_FOUND',
  'HISTORIAN_NOT_FOUND',
  'SIGNAL_NAME',
  'CALCULATION_SYNTAX',
  'INVALID_TAG_ADDRESS',
])
