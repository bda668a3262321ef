import type { TagCatalog } from '../catalog/tag-catalog.ts'
import type { Search, SearchPage } from './search.ts'

/** Where a search yields to the event loop: a read's snapshot, or anything else that knows when its time is up. */
export interface SearchPace {
  /** @param steps  that were done, of some microseconds each; 1 when left out */
  isDue(steps?: number): boolean
  /** Throws the signal's reason when it is aborted. */
  pause(): Promise<void>
}

/** A page of the tags that match, in the order of the code points of their names, scanned in slices. */
export type SearchTags = (catalog: TagCatalog, search: Search, pace: SearchPace) => Promise<SearchPage>
