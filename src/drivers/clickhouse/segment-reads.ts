import type { CallContext } from '../../historian/contract.ts'
import { instantFromUs } from '../../time/instant.ts'
import { chunksOf, growingChunks, refined } from './buffered-rows.ts'
import { ofLastVersions } from './last-versions.ts'
import type { ColumnKind, ReadColumns } from './native.ts'
import { DELETED, type PointTable, type RangeStats, rangeCondition } from './point-table.ts'
import { tagId } from './tag-id.ts'
import { chunks, type WindowChunk } from './windows-sql.ts'

/** Tags in one query. */
const MAX_TAGS = 1_000

/**
 * A tag is on one shard, so each shard finishes its own sums. Half-done ones would have to be joined elsewhere, and
 * 18.16 ends with a fault when sumKahan or varPopStable come from another server.
 */
const OWN_GROUPS = { distributed_group_by_no_merge: 1 }

/** What the server says of points of a tag that follow each other. */
export interface SegmentRow {
  /** Number of the tag. */
  readonly id: string
  /** Points that it counts, each once among all rows. */
  readonly count: number
}

/** Which rows are made of the points of a segment, which is a part of one window. */
export interface SegmentStatement<Kinds extends Readonly<Record<string, ColumnKind>>, Row> {
  readonly kinds: Kinds
  /** Whether the server holds the points of a segment in arrays: then none of them has too many. */
  readonly isBuffered: boolean
  /** Of one window alone: how many rows are read first, and then more and more; left out for as many as can be. */
  readonly firstRows?: number
  /**
   * The SELECT; rows of a tag in the order of time.
   * @param grouped gives one row for each tag and segment, with these columns behind `tag` and `window_`
   */
  sql(grouped: (columns: string) => string): string
  rowsOf(columns: ReadColumns<Kinds>): readonly Row[]
}

/** How many segments of which tags, and what was stored there a moment ago. */
interface Segments {
  readonly tags: readonly string[]
  readonly stats: readonly RangeStats[]
  readonly chunks: readonly WindowChunk[]
}

/**
 * Rows of segments of tags: what every read has in common that the server sums up. Each row is of the last versions of
 * points, whatever is written between the two queries.
 */
export class SegmentReads {
  readonly #points: PointTable

  constructor(points: PointTable) {
    this.#points = points
  }

  /**
   * The rows of each tag in the order of time, by the number of the tag.
   * @param edges n + 1 ascending instants for n windows [edge, next edge)
   * @param cutAt an instant at which a window is cut where there are points on after it
   */
  async rows<Kinds extends Readonly<Record<string, ColumnKind>>, Row extends SegmentRow>(
    tags: Iterable<string>,
    edges: Float64Array,
    statement: SegmentStatement<Kinds, Row>,
    context: CallContext,
    cutAt = Number.POSITIVE_INFINITY,
  ): Promise<ReadonlyMap<string, readonly Row[]>> {
    const found = new Map<string, Row[]>()
    const distinct = [...new Set(tags)]
    for (let from = 0; from < distinct.length; from += MAX_TAGS) {
      const some = distinct.slice(from, from + MAX_TAGS)
      const segments = await this.#segments(some, edges, statement, context, cutAt)
      const rows = await ofLastVersions(segments.stats, async (plain) => {
        const all: Row[] = []
        for (const chunk of segments.chunks) {
          for (const row of await this.#read(segments.tags, chunk, plain, statement, context)) all.push(row)
        }
        return all
      })
      for (const row of rows) found.getOrInsertComputed(row.id, () => []).push(row)
    }
    return found
  }

  /**
   * The same in portions, each later than the one before, for reads that may have enough of it early.
   * @param isOpen whether more of a tag is wanted
   */
  async *portions<Kinds extends Readonly<Record<string, ColumnKind>>, Row extends SegmentRow>(
    tags: Iterable<string>,
    edges: Float64Array,
    statement: SegmentStatement<Kinds, Row>,
    context: CallContext,
    isOpen: (tag: string) => boolean,
  ): AsyncGenerator<ReadonlyMap<string, readonly Row[]>> {
    const all = await this.#segments([...new Set(tags)], edges, statement, context)
    for (const chunk of all.chunks) {
      const open = all.tags.filter(isOpen)
      if (open.length === 0) return
      const [first, last] = [chunk.edges[0]!, chunk.edges.at(-1)!]
      const stats = all.chunks.length === 1 ? all.stats : await this.#stats(open, first, last, context)
      const rows = await ofLastVersions(stats, (plain) => this.#read(open, chunk, plain, statement, context))
      yield Map.groupBy(rows, ({ id }) => id)
    }
  }

  async #segments(
    tags: readonly string[],
    edges: Float64Array,
    { isBuffered, firstRows }: { readonly isBuffered: boolean; readonly firstRows?: number },
    context: CallContext,
    cutAt = Number.POSITIVE_INFINITY,
  ): Promise<Segments> {
    const all = await this.#stats(tags, edges[0]!, edges.at(-1)!, context)
    const stored = tags.flatMap((tag, i) => (all[i]!.rows > 0 ? { tag, stats: all[i]! } : []))
    const stats = stored.map((one) => one.stats)
    const rows = stats.reduce((sum, one) => sum + one.rows, 0)
    const isCut = edges[0]! < cutAt && stats.some(({ lastTime }) => lastTime >= cutAt)
    const cut = isCut ? withEdge(edges, cutAt) : edges
    const found = { tags: stored.map(({ tag }) => tag), stats }
    if (rows === 0) return { ...found, chunks: [] }
    if (firstRows !== undefined) return { ...found, chunks: growingChunks(cut, stats, rows, firstRows) }
    return { ...found, chunks: isBuffered ? chunksOf(refined(cut, stats, rows), rows) : chunks(cut) }
  }

  #stats(
    tags: readonly string[],
    from: number,
    to: number,
    context: CallContext,
  ): Promise<readonly RangeStats[]> {
    const range = { from: instantFromUs(from), to: instantFromUs(to) }
    return this.#points.stats(
      tags.map((tag) => ({ tag, ...range })),
      context,
    )
  }

  async #read<Kinds extends Readonly<Record<string, ColumnKind>>, Row>(
    tags: readonly string[],
    { sql: window, edges }: WindowChunk,
    plain: boolean,
    { sql, kinds, rowsOf }: SegmentStatement<Kinds, Row>,
    context: CallContext,
  ): Promise<readonly Row[]> {
    context.signal.throwIfAborted()
    const ids = new Set(tags.map((tag) => tagId(tag).text))
    const condition = rangeCondition(ids, edges[0]!, edges.at(-1)!)
    const grouped = (columns: string) =>
      `SELECT tag, ${window} AS window_, ${columns} FROM ${this.#points.table}${plain ? '' : ' FINAL'} ` +
      `WHERE ${condition}${plain ? '' : ` AND status < ${DELETED}`} GROUP BY tag, window_`
    return rowsOf(await this.#points.servers.read('read', sql(grouped), kinds, context, OWN_GROUPS))
  }
}

/** Edges with one more between them. */
function withEdge(edges: Float64Array, edge: number): Float64Array {
  const next = edges.findIndex((one) => one >= edge)
  if (next < 1 || edges[next] === edge) return edges
  const more = new Float64Array(edges.length + 1)
  more.set(edges.subarray(0, next))
  more[next] = edge
  more.set(edges.subarray(next), next + 1)
  return more
}
