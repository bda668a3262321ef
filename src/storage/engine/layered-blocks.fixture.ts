import assert from 'node:assert/strict'
import fc from 'fast-check'
import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { Arena } from '../blocks/arena.ts'
import type { BlockView } from '../blocks/block.ts'
import { joinChunks } from '../blocks/block.ts'
import { encodeChunk } from '../blocks/chunk.ts'
import { joinSpans, type Span } from '../blocks/spans.ts'
import { joinZoneMaps, zoneMapOf } from '../blocks/zone-map.ts'
import type { Part, PartInfo, PartRun } from '../parts/part.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import { MemorySource, PartSource, type Source } from './sources.ts'

export const PACE = { isDue: () => false, pause: async () => {} }

export type Point = readonly [time: number, value: number, status: number]

export function columnsOf(points: readonly Point[]): PointColumns {
  const columns = makeColumns(points.length)
  points.forEach(([time, value, status], i) => {
    columns.times[i] = time
    columns.values[i] = value
    columns.statuses[i] = status
  })
  return columns
}

/** A run in memory with so many points in a block, and so many blocks in a page. */
function runOf(columns: PointColumns, each: number, pageBlocks: number): PartRun {
  const count = columns.times.length
  const blocks = Math.ceil(count / each)
  const from = (block: number) => block * each
  const to = (block: number) => Math.min(count, (block + 1) * each)
  const zoneMap = (block: number) => zoneMapOf(columns, from(block), to(block))
  const pages = Math.ceil(blocks / pageBlocks)
  const pageStart = (page: number) => Math.min(blocks, page * pageBlocks)
  const run: PartRun = {
    tag: 1,
    count,
    firstTime: columns.times[0]!,
    lastTime: columns.times[count - 1]!,
    blocks,
    blockBefore(at) {
      let found = -1
      for (let block = 0; block < blocks; block++) if (columns.times[from(block)]! <= at) found = block
      return found
    },
    blockFirst: (block) => columns.times[from(block)]!,
    blockLast: (block) => columns.times[to(block) - 1]!,
    blockCount: (block) => to(block) - from(block),
    blockSummary: (block) => (each % 2 === 0 ? zoneMap(block) : null),
    open(block, view: BlockView) {
      if (each % 3 === 0)
        view.openColumns(sliceColumns(columns, from(block), to(block)), 0, to(block) - from(block))
      else {
        const chunks: Uint8Array[] = []
        for (let at = from(block); at < to(block); at += 2) {
          chunks.push(encodeChunk(columns, at, Math.min(to(block), at + 2)).slice())
        }
        const { block: bytes } = joinChunks(new Arena(), chunks)
        view.open(bytes, bytes.length)
      }
    },
    openAhead: (block, view) => run.open(block, view),
    pages: each % 2 === 0 ? pages : 0,
    pageOf: (block) => Math.floor(block / pageBlocks),
    pageStart,
    pageSummary: (page) =>
      joinZoneMaps(
        Array.from({ length: pageStart(page + 1) - pageStart(page) }, (_, i) => zoneMap(pageStart(page) + i)),
      ),
    load: (first, last) => {
      assert.ok(first <= last && last < blocks, `blocks ${first} to ${last} of ${blocks}`)
      return first % 2 === 0 ? Promise.resolve() : null
    },
  }
  return run
}

/** A part of one tag. Its span of times is wider than that of its points, as that of many tags is. */
function partOf(run: PartRun, wider: number): Part {
  return {
    info: { firstTime: run.firstTime - wider, lastTime: run.lastTime + wider } as PartInfo,
    run: () => run,
  } as unknown as Part
}

export const TIMES = 60
const point = fc.tuple(
  fc.integer({ min: 0, max: TIMES }),
  fc.integer({ min: 0, max: 9 }),
  fc.constantFrom(0, 0, 1),
)
export const layer = fc.record({
  points: fc.uniqueArray(point, { minLength: 1, maxLength: 30, selector: ([time]) => time }),
  each: fc.integer({ min: 1, max: 8 }),
  pageBlocks: fc.integer({ min: 1, max: 3 }),
  wider: fc.integer({ min: 0, max: 20 }),
  cuts: fc.array(fc.tuple(fc.integer({ min: 0, max: TIMES }), fc.integer({ min: 0, max: 12 })), {
    maxLength: 2,
  }),
  isMemory: fc.boolean(),
})

export type LayerContent = typeof layer extends fc.Arbitrary<infer Content> ? Content : never

/** A source of a layer, and where points of it are taken away. */
export function sourceOf({ points, each, pageBlocks, wider, cuts, isMemory }: LayerContent): {
  readonly source: Source
  readonly run: PartRun | null
  readonly cuts: readonly Span[]
} {
  const columns = columnsOf(points.toSorted((a, b) => a[0] - b[0]))
  if (isMemory) {
    const source = pageBlocks === 1 ? new MemorySource(columns) : new MemorySource(columns, each)
    return { source, run: null, cuts: [] }
  }
  const spans = joinSpans(cuts.map(([from, length]) => ({ from, to: from + length })))
  const run = runOf(columns, each, pageBlocks)
  return { source: new PartSource(partOf(run, wider), 1, spans), run, cuts: spans }
}

/** Blocks over layers, of which later ones replace points of earlier ones, and all points that there are, in order. */
export function layered(contents: readonly LayerContent[]) {
  const model = new Map<number, Point>()
  const sources: Source[] = []
  for (const content of contents) {
    const { source, cuts } = sourceOf(content)
    sources.push(source)
    for (const one of content.points) if (!isIn(cuts, one[0])) model.set(one[0], one)
  }
  const all = [...model.values()].sort((a, b) => a[0] - b[0])
  return { blocks: () => new LayeredBlocks(sources), all }
}

export const isIn = (spans: readonly Span[], time: number) =>
  spans.some(({ from, to }) => time >= from && time < to)

export const toPoints = ({ times, values, statuses }: PointColumns): Point[] =>
  Array.from(times, (time, i) => [time, values[i]!, statuses[i]!])
