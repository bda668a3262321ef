import type { CallContext, IntegralQuery } from '../../historian/contract.ts'
import type { Integrals } from '../../series/reads.ts'
import type { Places } from './places.ts'
import { integralsFromPoints, leavesDoubles } from './raw-fallback.ts'
import { integralsFromCells } from './segment-fold.ts'
import { addCells, noCells, shapeName } from './segments.ts'
import type { Server } from './server.ts'
import { Union } from './union.ts'
import { gridName } from './windows.ts'

/** Integrals over spans; one statement for all queries of the same spans and shape. */
export async function readIntegrals(
  server: Server,
  places: Places,
  queries: readonly IntegralQuery[],
  context: CallContext,
): Promise<readonly Integrals[]> {
  const results: Integrals[] = []
  const groups = Map.groupBy(
    queries.map((query, n) => ({ ...query, n })),
    (query) => `${gridName(query.starts)} ${gridName(query.ends)} ${shapeName(query)}`,
  )
  await server.forEachGroup(groups.values(), context, async (group, limited) => {
    try {
      await readGroup(server, places, group, results, limited)
    } catch (error) {
      if (!leavesDoubles(error)) throw error
      for (const query of group) {
        results[query.n] = await server.snapshot('integrals', limited, (reader) =>
          integralsFromPoints(reader, places, query, limited),
        )
      }
    }
  })
  return results
}

/** A query, and the index of its result. */
type Indexed = IntegralQuery & { readonly n: number }

const WANTED = { segments: true, sums: ['integral'], runs: false } as const

async function readGroup(
  server: Server,
  places: Places,
  group: readonly Indexed[],
  results: Integrals[],
  context: CallContext,
): Promise<void> {
  const shape = group[0]!
  const edges = cellEdges(shape)
  const cells = await server.read('integrals', context, async (session) => {
    const union = new Union()
    const found = new Map(group.map(({ n }) => [n, noCells()]))
    if (edges.length > 1) addCells(union, places, { queries: group, edges, shape, wanted: WANTED }, found)
    await union.run(session)
    return found
  })
  for (const query of group) results[query.n] = integralsFromCells(query, cells.get(query.n)!)
}

/** Spans and the gaps between them as cells that join. */
function cellEdges({ starts, ends }: IntegralQuery): Float64Array {
  return Float64Array.from(new Set([...starts, ...ends])).sort()
}
