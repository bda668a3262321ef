import type { Historian } from './contract.ts'
import type { HistorianView } from './registry.ts'

/** The answer to GET /historian/list and GET /historian/listwritable. */
export interface HistorianList {
  readonly historians: readonly { readonly name: string }[]
}

/** All historians that the caller may see, sorted by name; none of the virtual ones. */
export function listHistorians(historians: HistorianView): HistorianList {
  return named(historians.list())
}

/** Those of them that can be written to. */
export function listWritableHistorians(historians: HistorianView): HistorianList {
  return named(historians.list().filter((historian) => historian.capabilities.write))
}

function named(historians: readonly Historian[]): HistorianList {
  return { historians: historians.map(({ name }) => ({ name })) }
}
