import { WideMap } from '../../scheduling/wide-map.ts'
import { changeOptionalMetadata, type OptionalMetadataChange } from '../../series/optional-metadata.ts'
import type { CatalogDraft, TagFields } from '../catalog/tag-catalog.ts'
import type { ReadPace } from '../pause.ts'
import type { EngineErrors } from './engine-errors.ts'

/** A tag to be stored; optional fields that it leaves out stay as they are, null clears them. */
export type TagFieldsPut = Pick<TagFields, 'name' | 'description' | 'units' | 'stepped'> &
  OptionalMetadataChange

/** Works out new and overwritten metadata; reports for each entry whether it was stored, or exists, or is missing. */
export async function planPuts(
  catalog: Pick<CatalogDraft, 'find' | 'create' | 'change'>,
  pace: ReadPace,
  entries: readonly TagFieldsPut[],
  mode: 'create' | 'update' | 'upsert',
): Promise<readonly ('stored' | 'exists' | 'missing')[]> {
  const outcomes: ('stored' | 'exists' | 'missing')[] = []
  for (const entry of entries) {
    const { name, description, units, stepped } = entry
    const before = catalog.find(name)
    if (before !== null && mode === 'create') outcomes.push('exists')
    else if (before === null && mode === 'update') outcomes.push('missing')
    else {
      const fields = { name, description, units, stepped, ...changeOptionalMetadata(before ?? {}, entry) }
      if (before === null) catalog.create(fields)
      else catalog.change(before, { ...fields, id: before.id })
      outcomes.push('stored')
    }
    if (pace.isDue()) await pace.pause()
  }
  return outcomes
}

/** What of a change's draft renames take. */
interface RenameDraft {
  readonly catalog: Pick<CatalogDraft, 'idOf' | 'free' | 'move'>
  readonly pace: ReadPace
  readonly errors: EngineErrors
  watermarkOf(tag: number): number
  watermarkOfName(name: string): number
  removeHidden(tag: number): Promise<void>
}

/** Works out renames. TAG_NOT_FOUND for a missing tag, TAG_EXISTS for a name that stays or becomes another's. */
export async function planRenames(
  draft: RenameDraft,
  renames: readonly { readonly from: string; readonly to: string }[],
  dryRun: boolean,
): Promise<void> {
  const { catalog, pace } = draft
  const ids = await checkRenames(draft, renames)
  if (dryRun) return
  for (const [i, { from, to }] of renames.entries()) {
    // What is hidden by the rule of the old name would come back under the new one.
    if (draft.watermarkOfName(to) < draft.watermarkOf(ids[i]!)) await draft.removeHidden(ids[i]!)
    // All names are free before the first is given: they may go round in a circle.
    catalog.free(from)
    if (pace.isDue()) await pace.pause()
  }
  for (const [i, { to }] of renames.entries()) {
    catalog.move(ids[i]!, to)
    if (pace.isDue()) await pace.pause()
  }
}

/** Ids of the tags that are renamed. */
async function checkRenames(
  { catalog, pace, errors }: Pick<RenameDraft, 'catalog' | 'pace' | 'errors'>,
  renames: readonly { readonly from: string; readonly to: string }[],
): Promise<Uint32Array> {
  const ids = new Uint32Array(renames.length)
  const leaving = new WideMap<number>()
  for (const [i, { from }] of renames.entries()) {
    ids[i] = catalog.idOf(from)
    if (ids[i] === 0) throw errors.tagNotFound(from)
    leaving.set(from, 1)
    if (pace.isDue()) await pace.pause()
  }
  const taken = new WideMap<number>()
  for (const { to } of renames) {
    const isFree = leaving.get(to) !== undefined || catalog.idOf(to) === 0
    if (taken.get(to) !== undefined || !isFree) throw errors.tagExists(to)
    taken.set(to, 1)
    if (pace.isDue()) await pace.pause()
  }
  return ids
}
