import { BlockView } from './block.ts'
import { Catalog, type CatalogStores } from './catalog.ts'
import { type Meta, openDatabase, type Root, type Store } from './environment.ts'
import { Heads } from './heads/heads.ts'
import { HistorianErrors } from './historian-errors.ts'
import { Journal } from './journal/journal.ts'
import { DATABASES, FORMAT_VERSION, META, SUMMARIES_VERSION } from './names.ts'
import type { BlockAccess } from './tag-blocks.ts'
import { VerifiedBlocks } from './verified-blocks.ts'

/** The databases of a historian. */
export interface HistorianStores extends CatalogStores {
  /** See block.ts. */
  readonly points: Store
  /** See summary-page.ts. */
  readonly summaries: Store
  /** See journal/journal.ts. */
  readonly journal: Store
}

/** What reading and changing an open historian share: its databases, and what this process has of them in memory. */
export interface HistorianParts {
  /** Its name. */
  readonly historian: string
  readonly root: Root
  readonly stores: HistorianStores
  readonly catalog: Catalog
  readonly access: BlockAccess
  readonly journal: Journal
  readonly heads: Heads
  readonly errors: HistorianErrors
}

/** Opens the databases of a historian, making those that are missing. */
export function openStores(root: Root, meta: Meta, metaStore: Store): HistorianStores {
  return {
    meta,
    metaStore,
    tags: openDatabase(root, DATABASES.tags),
    names: openDatabase(root, DATABASES.names),
    search: openDatabase(root, DATABASES.search),
    points: openDatabase(root, DATABASES.points),
    summaries: openDatabase(root, DATABASES.summaries),
    journal: openDatabase(root, DATABASES.journal),
  }
}

/** Nothing is read yet but how summaries are kept. */
export function makeParts(historian: string, root: Root, stores: HistorianStores): HistorianParts {
  return {
    historian,
    root,
    stores,
    catalog: new Catalog(stores),
    access: {
      points: stores.points,
      summaries: stores.meta.get(META.summaries) === SUMMARIES_VERSION ? stores.summaries : null,
      view: new BlockView(),
      verified: new VerifiedBlocks(),
    },
    journal: new Journal(stores.journal),
    heads: new Heads(),
    errors: new HistorianErrors(historian),
  }
}

/** Whether a historian is as this version writes it. */
export function isCurrent(meta: Meta): boolean {
  return (
    meta.get(META.format) === FORMAT_VERSION &&
    meta.get(META.unicode) === process.versions.unicode &&
    meta.get(META.summaries) === SUMMARIES_VERSION
  )
}
