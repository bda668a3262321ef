import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { SeenAliases } from './seen-aliases.ts'
import type { Alias, AliasStore } from './store.ts'

/** Aliases that are listed together; those that a slice of the event loop does not reach are listed again. */
const PAGE = 16

/** Aliases until those seen are forgotten: trees of as many are kept at a time. */
const REMEMBERED = 500

/** Which aliases to walk over: names that begin with `prefix` and come after `after`. */
export interface AliasWalk {
  readonly prefix: string
  readonly after: string | null
}

/**
 * Looks at aliases in the order of their names, until `look` has enough; yields to the event loop between two of them
 * where that is due.
 * @param look gets what was seen of the aliases besides, now and then a new one
 */
export async function walkAliases(
  store: AliasStore,
  { prefix, after }: AliasWalk,
  signal: AbortSignal,
  look: (alias: Alias, seen: SeenAliases) => 'go on' | 'enough',
): Promise<void> {
  const scheduler = new CooperativeScheduler(signal)
  let seen = new SeenAliases()
  let last = after
  let looks = 0
  for (;;) {
    const isDone = await store.read((aliases) => {
      seen.readFrom(aliases)
      for (;;) {
        const page = aliases.list({ prefix, after: last, limit: PAGE })
        for (const listed of page) {
          if (++looks % REMEMBERED === 0) {
            seen = new SeenAliases()
            seen.readFrom(aliases)
          }
          const alias = seen.add(listed)
          last = alias.name
          if (look(alias, seen) === 'enough') return true
          if (scheduler.isDue) return false
        }
        if (page.length < PAGE) return true
      }
    })
    if (isDone) return
    await scheduler.yieldIfDue()
  }
}
