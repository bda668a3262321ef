import type { TagCatalog } from '../catalog/tag-catalog.ts'
import type { Damage } from '../damage.ts'
import type { Version } from '../manifest/version.ts'
import type { Memtable } from '../memtable/memtable.ts'
import type { TagWatermarks } from '../retention/tag-watermarks.ts'
import type { EngineErrors } from './engine-errors.ts'
import type { OpenParts } from './part-set.ts'

/** What this process has of an open historian, which reading and writing share. */
export interface EngineState {
  /** Its name. */
  readonly historian: string
  readonly errors: EngineErrors
  /** What the newest state is in; another process that reads may have to begin anew. */
  catalog: TagCatalog
  memtable: Memtable
  readonly parts: OpenParts
  /** What the rules of versions say of tags. */
  readonly watermarks: TagWatermarks
  /** Verifies the file of the catalog of a version. Gives what is wrong, one sentence each. */
  checkCatalog(version: Version): Promise<readonly string[]>
  /**
   * What is to be waited for where memory and parts are those of no moment, as a process that follows takes large
   * changes in slices; `null` for nothing. Throws, or rejects, where what is missing cannot be read. Reads wait by
   * themselves before they begin.
   */
  catchingUp(): Promise<void> | null
  /**
   * What is wrong with the log: what can be read of it is read, and nothing is changed. `null` for nothing that was
   * seen.
   */
  damage: Damage | null
}
