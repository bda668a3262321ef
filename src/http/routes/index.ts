import type { Route } from '../route.ts'
import { deleteAlias } from './alias-delete/handler.ts'
import { getAlias } from './alias-get/handler.ts'
import { listAliases } from './alias-list/handler.ts'
import { putAlias } from './alias-put/handler.ts'
import { deletePoints } from './delete-points/handler.ts'
import { live } from './health-live/handler.ts'
import { ready } from './health-ready/handler.ts'
import { browseTags } from './historian-browse/handler.ts'
import { listCalculations } from './historian-calculations/handler.ts'
import { listHistorians } from './historian-list/handler.ts'
import { listWritableHistorians } from './historian-listwritable/handler.ts'
import { searchTags } from './historian-search/handler.ts'
import { createMetadata } from './metadata-create/handler.ts'
import { deleteTags } from './metadata-delete/handler.ts'
import { getMetadata } from './metadata-get/handler.ts'
import { renameTags } from './metadata-rename/handler.ts'
import { updateMetadata } from './metadata-update/handler.ts'
import { metrics } from './metrics/handler.ts'
import { multi } from './multi/handler.ts'
import { openapi } from './openapi/handler.ts'
import { root } from './root/handler.ts'
import { writePoints } from './write-points/handler.ts'

/** Every endpoint, in the order of the reference. */
export const ROUTES: readonly Route[] = [
  listHistorians,
  listWritableHistorians,
  searchTags,
  browseTags,
  getMetadata,
  createMetadata,
  updateMetadata,
  listAliases,
  getAlias,
  putAlias,
  deleteAlias,
  writePoints,
  multi,
  listCalculations,
  deletePoints,
  deleteTags,
  renameTags,
  live,
  ready,
  metrics,
  openapi,
  root,
]
