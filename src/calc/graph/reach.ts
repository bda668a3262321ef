import type { Instant } from '../../time/instant.ts'
import type { OperatorContext } from './operator.ts'

interface Reach {
  readonly from: Instant
  readonly to: Instant
}

/** What is read of an operator, whatever the parts are in which it is read. Single look-ups may go beyond it. */
export function reachOf({ range, reach = range }: OperatorContext): Reach {
  return reach
}

/** The context of an input that is read from an instant on, or up to one, which may lie beyond what was read so far. */
export function reachingTo(context: OperatorContext, { from, to }: Partial<Reach>): OperatorContext {
  const known = reachOf(context)
  const reach = {
    from: from !== undefined && from < known.from ? from : known.from,
    to: to !== undefined && to > known.to ? to : known.to,
  }
  return { ...context, reach }
}
