import type { PageKind } from './block-cache.ts'
import { PageTable } from './page-table.ts'
import { IndexPage } from './run-index.ts'
import { SmallPage } from './small-page.ts'
import { SummaryPage } from './summary-page.ts'

/** What the views on a page of the index take, about. */
const INDEX_VIEWS = 1_000

/** Compressed blocks are kept as they are. */
export const BLOCK: PageKind<Uint8Array<ArrayBuffer>> = {
  parse: (page) => page,
  ownBytes: () => 0,
}

export const SMALL: PageKind<SmallPage> = {
  parse: (page) => new SmallPage(page),
  ownBytes: (page) => page.ownBytes,
}

export const INDEX: PageKind<IndexPage> = {
  parse: (page) => new IndexPage(page),
  ownBytes: () => INDEX_VIEWS,
}

export const SUMMARIES: PageKind<SummaryPage> = {
  parse: (page) => new SummaryPage(page),
  ownBytes: () => 0,
}

export const TABLE: PageKind<PageTable> = {
  parse: (page) => new PageTable(page),
  ownBytes: () => INDEX_VIEWS,
}
