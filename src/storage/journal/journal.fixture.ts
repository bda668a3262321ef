import type { TestContext } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns } from '../../series/columns.ts'
import { BlockView } from '../block.ts'
import { Changes } from '../changes.ts'
import { openDatabase, openEnvironment, type Root, type Store } from '../environment.ts'
import { DATABASES } from '../names.ts'
import type { BlockAccess } from '../tag-blocks.ts'
import { VerifiedBlocks } from '../verified-blocks.ts'
import { Journal, type JournalState } from './journal.ts'
import { encodePoints, encodeRemoval, type JournalPoints, type JournalRecord } from './record.ts'

/** The databases that the journal and its folding work on, in a folder that is gone after the test. */
export interface JournalFixture {
  readonly root: Root
  readonly store: Store
  readonly journal: Journal
  readonly changes: Changes
  readonly access: BlockAccess
  /** Commits records after a state, and the state that they lead to. */
  append(state: JournalState, ...records: readonly JournalRecord[]): Promise<JournalState>
  putState(state: JournalState): Promise<JournalState>
  /** Commits what was worked out. */
  commit(): Promise<void>
}

export function openJournal(t: TestContext): JournalFixture {
  const root = openEnvironment(temporaryFolder(t))
  t.after(() => root.close())
  const store = openDatabase(root, DATABASES.journal)
  const points = openDatabase(root, DATABASES.points)
  const summaries = openDatabase(root, DATABASES.summaries)
  const journal = new Journal(store)
  const changes = new Changes(points, summaries)
  const access = { points, summaries, view: new BlockView(), verified: new VerifiedBlocks() }
  const commit = async () => {
    await changes.apply()
    changes.reset()
    root.resetReadTxn()
  }
  return {
    root,
    store,
    journal,
    changes,
    access,
    commit,
    async append(state, ...records) {
      let after = state
      for (const record of records) {
        const bytes =
          record.kind === 'points'
            ? encodePoints(changes.arena, record)
            : encodeRemoval(changes.arena, record)
        after = journal.append(changes, after, bytes)
      }
      journal.putState(changes, after)
      await commit()
      return after
    },
    async putState(state) {
      journal.putState(changes, state)
      await commit()
      return state
    },
  }
}

/** [time, value, status]; status left out is OK. */
export type Row = readonly [time: number, value: number, status?: number]

/** The record of a request with points of some tags. */
export function pointsRecord(...tags: readonly (readonly [tag: number, ...rows: Row[]])[]): JournalRecord {
  const rows = tags.flatMap(([, ...ofTag]) => ofTag)
  const points = makeColumns(rows.length)
  rows.forEach(([time, value, status], index) => {
    points.times[index] = time
    points.values[index] = value
    points.statuses[index] = status ?? 0
  })
  const offsets = new Uint32Array(tags.length + 1)
  tags.forEach(([, ...ofTag], index) => {
    offsets[index + 1] = offsets[index]! + ofTag.length
  })
  const record: JournalPoints = { tags: Uint32Array.from(tags, ([tag]) => tag), offsets, points }
  return { kind: 'points', ...record }
}

export function removalRecord(
  ...spans: readonly (readonly [tag: number, from: number, to: number])[]
): JournalRecord {
  return { kind: 'removal', spans: spans.map(([tag, from, to]) => ({ tag, from, to })) }
}
