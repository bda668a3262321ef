import type { RequestType } from '../../multi/requests/request-type.ts'
import { isAll } from '../aggregate-cells.ts'
import { usageError } from '../exit.ts'

/** What a query asks of each tag, as its options say it. */
export interface RequestOptions {
  readonly type?: string
  readonly from?: string
  readonly to?: string
  readonly at?: string
  readonly last?: number
  readonly count?: number
  readonly interval?: string
  readonly anchor?: string
  readonly whole?: boolean
  readonly aggregates?: readonly string[]
  readonly per?: string
  readonly maxGap?: string
  readonly width?: number
  readonly fallback?: string
  readonly maxPoints?: number
  readonly order?: string
  readonly leftBoundary?: string
  readonly rightBoundary?: string
}

/** Details of a request by the option that gives each. */
const OPTIONS = {
  from: '--from',
  to: '--to',
  at: '--at',
  last: '--last',
  count: '--count',
  interval: '--interval',
  anchor: '--anchor',
  whole: '--whole',
  aggregates: '--aggregates',
  per: '--per',
  maxGap: '--max-gap',
  width: '--width',
  fallback: '--fallback',
  maxPoints: '--max-points',
  order: '--order',
  leftBoundary: '--left-boundary',
  rightBoundary: '--right-boundary',
} as const satisfies Readonly<Record<string, string>>

type Detail = keyof typeof OPTIONS

/** The request of each tag. @throws CommandError for options that do not go together, or would be ignored */
export function requestOf(
  options: RequestOptions,
  types: ReadonlyMap<string, RequestType>,
): { readonly type: string; readonly details: Readonly<Record<string, unknown>> } {
  const type = options.type?.toUpperCase() ?? inferredType(options)
  const { aggregates, ...others } = options
  const given: Readonly<Record<string, unknown>> = {
    ...others,
    ...(aggregates !== undefined && !isAll(aggregates) && { aggregates }),
    to: options.to ?? (options.from === undefined ? undefined : 'now'),
  }
  const details = Object.fromEntries(
    (Object.keys(OPTIONS) as Detail[]).flatMap((name) =>
      given[name] === undefined ? [] : [[name, given[name]]],
    ),
  )
  const known = types.get(type)
  // A type that this version does not know is for the service to judge.
  if (known !== undefined) refuseIgnored(options, known, types)
  return { type, details }
}

function inferredType(options: RequestOptions): string {
  const { from, to, at, last, count, interval, aggregates, width } = options
  if (at !== undefined) {
    if (from !== undefined || to !== undefined) throw usageError('Give --at, or --from and --to, not both')
    return 'HISTORICAL_POINT'
  }
  if (last !== undefined) {
    if (from !== undefined) throw usageError('Give --last or --from, not both')
    return 'RAW_POINTS'
  }
  if (from === undefined) {
    const needy = {
      '--to': to,
      '--count': count,
      '--interval': interval,
      '--aggregates': aggregates,
      '--width': width,
    }
    for (const [name, value] of Object.entries(needy)) {
      if (value !== undefined) throw usageError(`${name} needs --from, such as --from yesterday`)
    }
    return 'CURRENT_POINT'
  }
  if (width !== undefined) return 'PLOT'
  const isDivided = count !== undefined || interval !== undefined
  if (aggregates !== undefined) return isDivided ? 'MULTIPLE_AGGREGATED_POINTS' : 'AGGREGATED_POINTS'
  return isDivided ? 'INTERPOLATED_POINTS' : 'RAW_POINTS'
}

/** An option without an effect is most often the sign of another question than the one that was meant. */
function refuseIgnored(
  options: RequestOptions,
  type: RequestType,
  types: ReadonlyMap<string, RequestType>,
): void {
  for (const [detail, flag] of Object.entries(OPTIONS)) {
    if (options[detail as Detail] === undefined || type.fields.includes(detail)) continue
    const others = [...types.values()].filter(({ fields }) => fields.includes(detail)).map(({ name }) => name)
    const use = others.length === 0 ? 'no request takes it' : `it is for ${others.join(', ')}`
    throw usageError(`${flag} would be ignored by ${type.name}: ${use}. See tidemark query --help`)
  }
}
