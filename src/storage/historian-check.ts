import type { PointColumns } from '../series/columns.ts'
import { BlockView } from './block.ts'
import { KEY_BYTES, readBlockKey, TAIL } from './block-key.ts'
import { type CatalogStores, idKey, nameKey, readId } from './catalog.ts'
import { Damage } from './damage.ts'
import type { Store } from './environment.ts'
import { Journal, type JournalState, type RecordPlace, readRecordKey } from './journal/journal.ts'
import { decodeRecord } from './journal/record.ts'
import { META, SUMMARIES_VERSION } from './names.ts'
import { searchKeys } from './search-keys.ts'
import type { Snapshot } from './snapshot.ts'
import { type Stretch, stretchOf } from './stretch.ts'
import { EntryCheck, PageCheck, type SummaryCheck } from './summary-check.ts'
import { decodeTagRecord, type TagRecord } from './tag-record.ts'

/** What a check of a historian found. */
export interface HistorianCheck {
  readonly tags: number
  readonly blocks: number
  /** Points in blocks that are not damaged, and those of the journal that stand in no block. */
  readonly points: number
  /** Records of the journal, whose points are not in blocks yet or in both. */
  readonly records: number
  /** Sentences, at most MAX_PROBLEMS; empty when all is well. */
  readonly problems: readonly string[]
  /** All problems, also those without a sentence. */
  readonly problemCount: number
}

const MAX_PROBLEMS = 100
/** Entries looked at between two rests at least: a cursor is only kept within one turn of the event loop. */
const STRETCH = 64

class Findings {
  readonly problems: string[] = []
  count = 0

  add(problem: string): void {
    this.count++
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem)
  }

  /** Runs a step; damage that it meets is a finding, with the subject in front. */
  watch(subject: string, step: () => void): void {
    try {
      step()
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      this.add(`${subject}: ${error.message}`)
    }
  }
}

/**
 * Verifies everything that is stored in one state of a historian: every record and block by its checksum, every index entry against
 * the records, the order of the blocks, and that blocks have a tag.
 */
export async function checkHistorian(
  stores: CatalogStores & { readonly points: Store; readonly summaries: Store; readonly journal: Store },
  snapshot: Snapshot,
): Promise<HistorianCheck> {
  const findings = new Findings()
  const { tags, searchEntries } = await checkTags(stores, snapshot, findings)
  await checkIndexes(stores, snapshot, findings, { tags, searchEntries })
  const version = stores.meta.get(META.summaries)
  const summaries =
    version === SUMMARIES_VERSION
      ? new PageCheck(stores.summaries)
      : new EntryCheck(stores.summaries, version === true)
  const { blocks, points } = await checkBlocks(stores, snapshot, findings, summaries)
  findings.watch('summaries', () => summaries.finish(snapshot))
  const records = await checkJournal(stores, snapshot, findings)
  return { tags, blocks, points, records, problems: findings.problems, problemCount: findings.count }
}

/** Every record by its checksum, that none is missing between them, that the state fits, and that the points have a tag. */
async function checkJournal(
  { journal: store, tags }: { readonly journal: Store; readonly tags: Store },
  snapshot: Snapshot,
  findings: Findings,
): Promise<number> {
  let records = 0
  let state: JournalState | null = null
  findings.watch('the journal', () => {
    state = new Journal(store).state(snapshot.options)
  })
  let expected: RecordPlace | null = null
  const withPoints = new Set<number>()
  await eachEntry(store, snapshot, (key, value) => {
    const place = readRecordKey(key)
    if (place === null) return
    records++
    expected = checkPlace(place, expected, state, findings)
    findings.watch(shownPlace(place), () => {
      const record = decodeRecord(value)
      if (record.kind === 'points') for (const tag of record.tags) withPoints.add(tag)
      else
        for (const { tag, from } of record.spans)
          if (from === Number.NEGATIVE_INFINITY) withPoints.delete(tag)
    })
  })
  if (state !== null) checkEnd(state, expected, findings)
  for (const tag of withPoints) {
    if (tags.get(idKey(tag), snapshot.options) === undefined) {
      findings.add(`the journal has points of a tag ${tag} that does not exist`)
    }
    if (snapshot.isDue()) await snapshot.rest()
  }
  return records
}

/** Gives the place that the next record must have in the same epoch. */
function checkPlace(
  { epoch, number }: RecordPlace,
  expected: RecordPlace | null,
  state: JournalState | null,
  findings: Findings,
): RecordPlace {
  // Of epochs that are folded, the oldest records can be gone.
  const isRemoved = state === null || epoch < state.first
  const first = isRemoved && expected?.epoch !== epoch ? number : 0
  const wanted = expected !== null && expected.epoch === epoch ? expected.number : first
  if (number !== wanted) findings.add(`${shownPlace({ epoch, number: wanted })}: it is missing`)
  return { epoch, number: number + 1 }
}

/** The last records must be those that the state tells of. */
function checkEnd({ epoch, next }: JournalState, expected: RecordPlace | null, findings: Findings): void {
  const found = expected !== null && expected.epoch >= epoch ? expected : { epoch, number: 0 }
  if (found.epoch > epoch || found.number > next) {
    findings.add('the journal: the state of the journal does not fit its records')
  } else if (found.number < next) findings.add(`${shownPlace(found)}: it is missing`)
}

function shownPlace({ epoch, number }: RecordPlace): string {
  return `journal record ${epoch}.${number}`
}

async function checkTags(
  { meta, tags, names, search }: CatalogStores,
  snapshot: Snapshot,
  findings: Findings,
): Promise<{ readonly tags: number; readonly searchEntries: number }> {
  const nextTag = meta.getNumber(META.nextTag)
  let count = 0
  let searchEntries = 0
  await eachEntry(tags, snapshot, (key, value) => {
    count++
    findings.watch('a tag', () => {
      const id = readId(key)
      const record = decodeTagRecord(id, value)
      if (id >= nextTag) findings.add(`tag ${shown(record)}: its id ${id} was not given yet`)
      const found = names.get(nameKey(record.name), snapshot.options)
      if (found === undefined || readId(found) !== id)
        findings.add(`tag ${shown(record)}: it is not found by name`)
      for (const searchKey of searchKeys(record)) {
        searchEntries++
        if (search.get(searchKey, snapshot.options) === undefined) {
          findings.add(`tag ${shown(record)}: an entry of the search index is missing`)
        }
      }
    })
  })
  return { tags: count, searchEntries }
}

/** Every tag has its entries, as was checked: so there are superfluous ones only if there are too many. */
async function checkIndexes(
  { names, search }: CatalogStores,
  snapshot: Snapshot,
  findings: Findings,
  expected: { readonly tags: number; readonly searchEntries: number },
): Promise<void> {
  let nameEntries = 0
  await eachEntry(names, snapshot, () => {
    nameEntries++
  })
  let searchEntries = 0
  await eachEntry(search, snapshot, () => {
    searchEntries++
  })
  if (nameEntries > expected.tags) findings.add('the index of names has entries without a tag')
  if (searchEntries > expected.searchEntries) findings.add('the search index has entries without a tag')
}

async function checkBlocks(
  stores: CatalogStores & { readonly points: Store },
  snapshot: Snapshot,
  findings: Findings,
  summaries: SummaryCheck,
): Promise<{ readonly blocks: number; readonly points: number }> {
  const { tags, points: store } = stores
  const view = new BlockView()
  let blocks = 0
  let points = 0
  let lastTag = 0
  let name: string | null = null
  let lastTime = Number.NEGATIVE_INFINITY
  await eachEntry(store, snapshot, (key, value) => {
    blocks++
    if (key.length !== KEY_BYTES) {
      findings.add('a block has a key that is none')
      return
    }
    const { tag, time } = readBlockKey(key)
    if (tag !== lastTag) {
      lastTag = tag
      lastTime = Number.NEGATIVE_INFINITY
      name = nameOf(tags, tag, snapshot)
      if (name === null) findings.add(`blocks of a tag ${tag} that does not exist`)
    }
    const subject = `tag ${name ?? tag}`
    let stretch: Stretch | null | undefined
    findings.watch(subject, () => {
      view.open(value, value.length).verify()
      points += view.count
      checkOrder(view, time, lastTime)
      lastTime = view.lastTime
      if (view.chunkCount > 0) checkStretch(view)
      stretch = view.chunkCount > 0 ? view.stretch() : null
    })
    if (time !== TAIL) {
      summaries.add({ tag, time, stretch }, (step) => findings.watch(subject, step), snapshot)
    }
  })
  return { blocks, points }
}

/** Throws Damage when the header of a compressed block does not say what its points say. */
function checkStretch(view: BlockView): void {
  const stated = view.stretch()
  const points = view.columns()
  const actual = stretchOf(points, 0, view.count)
  for (const field of Object.keys(actual) as (keyof Stretch)[]) {
    const difference = Math.abs(stated[field] - actual[field])
    const isExact = EXACT.has(field)
    const tolerance = isExact ? 0 : toleranceOf(field, points, actual)
    if (difference > tolerance) throw new Damage(`the summary of a block has a wrong ${field}`)
  }
}

const EXACT: ReadonlySet<keyof Stretch> = new Set([
  'count',
  'numGood',
  'firstTime',
  'lastTime',
  'firstGoodTime',
  'lastGoodTime',
  'first',
  'last',
  'min',
  'max',
])

/** What rounding may make of sums that are added up in another order. */
function toleranceOf(field: keyof Stretch, points: PointColumns, actual: Stretch): number {
  const largest = largestOf(field, points, actual)
  // One order overflows and another one does not.
  if (!(largest < Number.MAX_VALUE / 4)) return Number.POSITIVE_INFINITY
  return 1e-9 * largest + LEAST_TOLERANCE
}

/** Doubles next to 0 are rounded more than others. */
const LEAST_TOLERANCE = 1e-300

/** What a sum can come to on the way. */
function largestOf(field: keyof Stretch, points: PointColumns, { min, max, numGood }: Stretch): number {
  const size = Math.max(Math.abs(min), Math.abs(max))
  const span = points.times.at(-1)! - points.times[0]!
  if (field === 'mean' || field === 'meanRest') return size
  if (field === 'sum') return size * numGood
  if (field === 'squares') return 4 * size * size * numGood
  return size * span
}

/** `null` when there is no such tag; its number for one whose record is damaged. */
function nameOf(tags: Store, id: number, snapshot: Snapshot): string | null {
  const bytes = tags.get(idKey(id), snapshot.options)
  if (bytes === undefined) return null
  try {
    return shown(decodeTagRecord(id, bytes))
  } catch (error) {
    if (error instanceof Damage) return String(id)
    throw error
  }
}

function checkOrder(view: BlockView, keyTime: number, lastTime: number): void {
  if (keyTime !== TAIL && keyTime !== view.firstTime) throw new Damage('a block stands under a wrong key')
  if (view.timeAt(0) !== view.firstTime || view.timeAt(view.count - 1) !== view.lastTime) {
    throw new Damage('the header of a block contradicts its points')
  }
  let good = 0
  for (let i = 0; i < view.count; i++) {
    if (view.isGoodAt(i)) good++
    if (i > 0 && !(view.timeAt(i) > view.timeAt(i - 1)))
      throw new Damage('the times of a block do not ascend')
  }
  if (good !== view.goodCount) throw new Damage('the header of a block contradicts its points')
  if (!(view.firstTime > lastTime)) throw new Damage('a block begins before the one before it ends')
}

/** Visits all entries of a database; other reads are allowed in a visit, after its key and value were used. */
async function eachEntry(
  store: Store,
  snapshot: Snapshot,
  visit: (key: Uint8Array, value: Uint8Array) => void,
): Promise<void> {
  let start: Uint8Array | null = Buffer.of(0)
  while (start !== null) {
    const from: Uint8Array = start
    start = null
    const entries: { key: Uint8Array; value: Uint8Array }[] = []
    for (const { key, value } of store.getRange({ start: from, limit: STRETCH + 1, ...snapshot.options })) {
      if (entries.length === STRETCH) start = key as Uint8Array
      else entries.push({ key: key as Uint8Array, value: new Uint8Array(value.subarray(0, value.length)) })
    }
    for (const { key, value } of entries) visit(key, value)
    if (snapshot.isDue()) await snapshot.rest()
  }
}

function shown(record: TagRecord): string {
  return record.name.length > 100 ? `${record.name.slice(0, 100)}…` : record.name
}
