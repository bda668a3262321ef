import type { CallContext } from './contract.ts'
import type { HistorianView } from './registry.ts'
import { ALIASES } from './visible-aliases.ts'

/** The answer to GET /historian/list and GET /historian/listwritable. */
export interface HistorianList {
  readonly historians: readonly { readonly name: string }[]
}

/**
 * All historians that the caller may see, sorted by name, with `aliases` among them once there is one; none of the
 * other virtual ones.
 */
export async function listHistorians(
  historians: HistorianView,
  context: CallContext,
): Promise<HistorianList> {
  const names = historians.list().map(({ name }) => name)
  if (await historians.aliases?.exist(context)) names.push(ALIASES)
  return named(names.sort())
}

/** Those of them that can be written to. */
export function listWritableHistorians(historians: HistorianView): HistorianList {
  const writable = historians.list().filter((historian) => historian.capabilities.write)
  return named(writable.map(({ name }) => name))
}

function named(names: readonly string[]): HistorianList {
  return { historians: names.map((name) => ({ name })) }
}
