import { makeColumns, type PointColumns } from '../../series/columns.ts'
import type { Span } from '../blocks/spans.ts'
import type { Files } from '../files/files.ts'
import { BlockCache } from '../parts/block-cache.ts'
import { FilePart } from '../parts/file-part.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import { MOST_SMALL } from '../parts/small-run.ts'
import { TombstoneBuilder, type TombstoneColumns } from '../parts/tombstone-columns.ts'
import { Pacer } from '../pause.ts'
import { neededTombstones } from './carry.ts'
import { cutTimes } from './cut-times.ts'
import { ExpiredSpans } from './expired.ts'
import type { MergeOrder, MergeResult } from './merge.ts'
import { type InputRun, MergeInput, ofInput } from './merge-input.ts'
import { MergeOutputs } from './merge-outputs.ts'
import { mergeTag, type Pause } from './tag-merge.ts'
import { TombstoneMap } from './tombstone-map.ts'

/** Pages of inputs are read one after the other, those of small runs many times in a row. */
const CACHE_BYTES = 16 << 20

/**
 * Makes one layer of some parts: of points of the same time the newest stays, and what tombstones cover or retention
 * has removed goes. Rejects with InputDamage, InputUnreadable, the system's error or the signal's reason; nothing is
 * left of the outputs then.
 */
export async function runMerge(files: Files, order: MergeOrder, signal: AbortSignal): Promise<MergeResult> {
  signal.throwIfAborted()
  const parts: FilePart[] = []
  try {
    const cache = new BlockCache(CACHE_BYTES)
    const inputs = order.inputs.toSorted((a, b) => a.lastSequence - b.lastSequence)
    for (const info of inputs) {
      parts.push(ofInput(info.name, () => FilePart.open(files, order.folder, info, cache)))
    }
    const outputs = new MergeOutputs(
      files,
      order,
      {
        firstSequence: Math.min(...inputs.map(({ firstSequence }) => firstSequence)),
        lastSequence: Math.max(...inputs.map(({ lastSequence }) => lastSequence)),
        replaces: inputs.map(({ name }) => name),
      },
      cutTimes(parts, order.limits.partitionBytes),
    )
    try {
      const hidden = await mergeTags(parts, order, outputs, signal)
      const store = openPartStore(files, order.folder, { cacheBytes: 0 })
      const own = parts.map(({ tombstones }) => tombstones.columns)
      outputs.addTombstones(neededTombstones([...own, hidden], order.others, store))
      return { added: await outputs.finish() }
    } catch (error) {
      outputs.abandon()
      throw error
    }
  } finally {
    for (const part of parts) part.close()
  }
}

/** Gives the tombstones of what older parts may have where points were left out that replaced it. */
async function mergeTags(
  parts: readonly FilePart[],
  order: MergeOrder,
  outputs: MergeOutputs,
  signal: AbortSignal,
): Promise<TombstoneColumns> {
  const own = parts.map((part) => part.tombstones.columns)
  const tombstones = new TombstoneMap([...own, ...order.tombstones])
  const expired = new ExpiredSpans(order.expired)
  const inputs = parts.map((part) => new MergeInput(part))
  const pacer = new Pacer()
  const pause = async () => {
    await outputs.drain()
    await pacer.pause(signal)
  }
  const pauseIfDue: Pause = () => (pacer.isDue() ? pause() : null)
  const scratch = makeColumns(inputs.length * MOST_SMALL)
  const having: MergeInput[] = []
  const hidden = new TombstoneBuilder()
  const lastSequence = Math.max(...parts.map(({ info }) => info.lastSequence))
  for (;;) {
    let tag = Number.POSITIVE_INFINITY
    for (const input of inputs) if (input.tag < tag) tag = input.tag
    if (tag === Number.POSITIVE_INFINITY) return hidden.sorted()
    having.length = 0
    for (const input of inputs) if (input.tag === tag) having.push(input)
    outputs.beginTag(tag)
    const old = expired.of(tag)
    if (!joinSmall(having, scratch, old.length > 0 || tombstones.has(tag), outputs)) {
      const runs = having.map((input) => ({
        run: input.run(),
        cuts: tombstones.cuts(tag, input.info.lastSequence, old),
      }))
      const between = expired.between(tag)
      if (between !== null && runs.some(({ run }) => mayHave(run, between)))
        hidden.add(tag, between.from, between.to, lastSequence)
      await mergeTag(runs, outputs, pauseIfDue)
      outputs.endTag()
    }
    for (const input of having) input.next()
    const waiting = pauseIfDue()
    if (waiting !== null) await waiting
  }
}

/** Whether a run may have points in a span, by its first and last one. */
function mayHave(run: InputRun, { from, to }: Span): boolean {
  return run.blockFirst(0) < to && run.blockLast(run.blocks - 1) >= from
}

/** The fast path of most tags: small runs that follow each other in time. False when it is not that. */
function joinSmall(
  inputs: readonly MergeInput[],
  scratch: PointColumns,
  isCut: boolean,
  outputs: MergeOutputs,
): boolean {
  if (isCut) return false
  let count = 0
  for (const input of inputs) {
    if (!input.isSmall) return false
    const more = input.decode(scratch, count)
    if (count > 0 && !(scratch.times[count]! > scratch.times[count - 1]!)) return false
    count += more
  }
  return outputs.takeSmall(scratch, count)
}
