import type { RetentionMeasures } from '../../historian/measures.ts'
import { Damage } from '../damage.ts'
import { isWithoutSpace } from '../files/files.ts'
import type { Expired } from '../merge/expired.ts'
import {
  type MergeLimits,
  type MergeOrder,
  type MergePlan,
  type Merger,
  MOST_OUTPUTS,
  type PlanMerge,
} from '../merge/merge.ts'
import { RECLAIMED_SHARE } from '../merge/reclaim.ts'
import type { PartInfo } from '../parts/part.ts'
import { findCovered } from './covered-parts.ts'
import type { Expiry } from './expiry.ts'
import { MergeRoom } from './merge-room.ts'
import type { OpenParts, PartSet } from './part-set.ts'
import type { PartsAside } from './parts-aside.ts'
import type { Reserve } from './reserve.ts'
import type { Trouble } from './trouble.ts'
import { LostPart, type VersionLog } from './version-log.ts'

/** What merging takes. */
export interface MergingParts {
  readonly parts: OpenParts
  readonly reserve: Reserve
  /** Bytes that merges may write, what is set aside for a full disk among them. */
  readonly roomBytes: () => number
  /** Waits for what is being removed; whether there was any. On a full disk more is. */
  readonly makeRoom: (isFull: boolean) => Promise<boolean>
  readonly versions: VersionLog
  readonly merger: Merger
  readonly plan: PlanMerge
  /** What to merge when nothing was flushed for so many milliseconds. */
  readonly planIdle: PlanMerge
  readonly idleAfterMs: number
  /** What is worth it then only once in so many milliseconds. */
  readonly planThorough: PlanMerge
  readonly thoroughEveryMs: number
  /** Parts of which much was taken away are merged after so many milliseconds also where flushes never cease. */
  readonly reclaimAfterMs: number
  readonly limits: MergeLimits
  readonly expiry: Expiry
  readonly trouble: Trouble
  readonly aside: PartsAside
  readonly folder: string
  readonly namePrefix: string
  /** Sets numbers aside for the names of new parts; gives the first. */
  takeNumbers(count: number): number
}

/** A merge whose outputs are on disk. */
interface Merged {
  readonly inputs: readonly PartInfo[]
  readonly added: readonly PartInfo[]
  readonly isTrim: boolean
}

/**
 * After so many flushes that follow each other closely parts are merged although more come: then it is no burst, and
 * reads would have ever more of them to look at.
 */
const MOST_HASTY = 8

/** Has parts merged in the background, one merge after the other, as long as there is something to merge. */
export class Merging {
  readonly #parts: MergingParts
  readonly #room: MergeRoom
  readonly #damaged = new Set<string>()
  readonly #closing = new AbortController()
  #running: Promise<void> | null = null
  /** Whether there are new parts since parts were looked at. */
  #isLookDue = false
  /** Flushes in a row that were soon followed by the next one. */
  #hasty = 0
  /** Whether watermarks have moved since parts were looked at. */
  #isTrimDue = false
  /** Whether nothing was flushed for some time, and not all is merged that waited for that. */
  #isIdle = false
  /** Whether thorough merges are under way, and from when on there may be more. */
  #isThorough = false
  #thorough: MergePlan | null = null
  #thoroughFrom = Number.NEGATIVE_INFINITY
  /**
   * When the first flush came after it was looked for what was taken away, by the monotonic clock: of a burst that
   * follows a rest it counts from its beginning. `null` for none.
   */
  #busySince: number | null = null
  /**
   * The merge that no version has yet. Where the edit fails it is tried again before anything else is merged: what is
   * on disk is not written again, and what newer parts and watermarks take away covers the outputs like the inputs.
   */
  #merged: Merged | null = null
  /** Whether the reserve was given up since the last merge that came to its end. */
  #hasGivenUp = false
  #retryTimer: NodeJS.Timeout | null = null
  #idleTimer: NodeJS.Timeout | null = null
  #asideTimer: NodeJS.Timeout | null = null
  #trimmedFiles = 0
  #removedPoints = 0

  constructor(parts: MergingParts) {
    this.#parts = parts
    this.#room = new MergeRoom(parts.roomBytes, () => parts.makeRoom(false))
  }

  /** The merges that are under way; resolves also where one fails. */
  get running(): Promise<void> | null {
    return this.#running
  }

  /** What trimming has done so far. */
  get trimmed(): Pick<RetentionMeasures, 'trimmedFiles' | 'removedPoints'> {
    return { trimmedFiles: this.#trimmedFiles, removedPoints: this.#removedPoints }
  }

  /**
   * To be called when there are new parts.
   * @param isHasty  whether the next one follows soon: a short burst of writes is merged when it is over
   */
  goOn(isHasty = false): void {
    if (this.#closing.signal.aborted) return
    this.#isIdle = false
    this.#busySince ??= performance.now()
    this.#waitForIdle(this.#parts.idleAfterMs)
    this.#hasty = isHasty ? this.#hasty + 1 : 0
    if (isHasty && this.#hasty % MOST_HASTY !== 0) return
    this.#isLookDue = true
    this.#run()
  }

  /** To be called when watermarks of retention have moved. */
  trim(): void {
    this.#isTrimDue = true
    this.#run()
  }

  #run(): void {
    if (this.#running !== null || this.#retryTimer !== null || this.#closing.signal.aborted) return
    this.#running = this.#mergeAll().then(
      () => {
        this.#running = null
        this.#reportRoom()
        this.#waitForAside()
        // What became due when the last look had begun.
        if (this.#isLookDue || this.#isTrimDue || this.#isIdle) this.#run()
      },
      async (error: unknown) => {
        const { reserve, makeRoom } = this.#parts
        const isWorthIt = isWithoutSpace(error) && ((await makeRoom(true)) || this.#giveUp(reserve, error))
        this.#running = null
        if (this.#closing.signal.aborted) return
        if (isWorthIt) this.#run()
        else this.#retryLater(this.#parts.trouble.failed(error))
      },
    )
  }

  /** What has no room is tried again in the next rest, and with the next flush. */
  #reportRoom(): void {
    const { trouble, idleAfterMs } = this.#parts
    const { lacking } = this.#room
    if (lacking === null) trouble.over()
    else if (!this.#closing.signal.aborted) this.#waitForIdle(Math.max(idleAfterMs, trouble.failed(lacking)))
  }

  /** Once until a merge has come to its end: it is set aside again as soon as it fits, also where it is too little. */
  #giveUp(reserve: Reserve, cause: unknown): boolean {
    if (this.#hasGivenUp || !reserve.giveUp(cause)) return false
    this.#hasGivenUp = true
    return true
  }

  /** Resolves when nothing is to be merged, or merging fails. */
  async idle(): Promise<void> {
    if (this.#hasty > 0) this.goOn()
    while (this.#running !== null) await this.#running
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the historian is closed'))
    for (const timer of [this.#retryTimer, this.#idleTimer, this.#asideTimer]) {
      if (timer !== null) clearTimeout(timer)
    }
    await this.#running
    await this.#parts.merger.close()
  }

  async #mergeAll(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted && (await this.#mergeNext(signal))) {
      // One after the other.
    }
  }

  async #mergeNext(signal: AbortSignal): Promise<boolean> {
    if (this.#merged !== null) return this.#show(this.#merged)
    const { parts } = this.#parts
    const set = parts.current
    // All of the way: a flush may move on from it wherever this waits.
    parts.hold(set)
    try {
      return await this.#mergeOf(set, signal)
    } finally {
      parts.release(set)
    }
  }

  /** Makes the next merge of a set that is held; false when there is none. */
  async #mergeOf(set: PartSet, signal: AbortSignal): Promise<boolean> {
    const { plan, limits } = this.#parts
    const isIdle = this.#isIdle
    this.#isLookDue = false
    const excluded = new Set([...this.#damaged, ...this.#parts.aside.namesNow(set.version.parts)])
    for (const { info, damage } of set.parts) if (damage !== null) excluded.add(info.name)
    // On a full disk what makes room comes first.
    const isFull = this.#parts.reserve.isSpent
    if (isFull && (await this.#reclaim(set, excluded, signal))) return true
    if (isFull && (await this.#trimNext(set, excluded, signal))) return true
    const infos = set.version.parts
    const planNext = (without: ReadonlySet<string>) =>
      (isIdle ? this.#planIdle(infos, without) : null) ?? plan(infos, limits, without)
    const chosen = await this.#room.choose(planNext, excluded, isIdle)
    if (chosen !== null) {
      this.#isThorough ||= chosen === this.#thorough
      return this.#merge(chosen, set, signal)
    }
    if (await this.#trimNext(set, excluded, signal)) return true
    // Where others have no room it makes some.
    if (!isIdle && this.#room.lacking === null && !this.#isReclaimDue()) return false
    if (!isFull && (await this.#reclaim(set, excluded, signal))) return true
    this.#busySince = this.#isLookDue ? performance.now() : null
    // With new parts another rest has begun, or is to be waited for.
    if (isIdle && !this.#isLookDue) this.#endIdle()
    return false
  }

  /** Whether flushes have come for so long that what was taken away is looked for without a rest. */
  #isReclaimDue(): boolean {
    return this.#busySince !== null && performance.now() - this.#busySince >= this.#parts.reclaimAfterMs
  }

  #planIdle(infos: readonly PartInfo[], excluded: ReadonlySet<string>): MergePlan | null {
    const { planIdle, planThorough, limits } = this.#parts
    const chosen = planIdle(infos, limits, excluded)
    if (chosen !== null) return chosen
    const thorough = planThorough(infos, limits, excluded)
    if (thorough === null) return null
    const waitMs = this.#thoroughFrom - performance.now()
    if (waitMs > 0) {
      this.#waitForIdle(waitMs)
      return null
    }
    this.#thorough = thorough
    return thorough
  }

  #endIdle(): void {
    this.#isIdle = false
    if (this.#isThorough) this.#thoroughFrom = performance.now() + this.#parts.thoroughEveryMs
    this.#isThorough = false
  }

  /** Merges a part by itself of which much has expired; false when there is none. */
  async #trimNext(set: PartSet, excluded: ReadonlySet<string>, signal: AbortSignal): Promise<boolean> {
    if (!this.#isTrimDue) return false
    const { expiry } = this.#parts
    this.#isTrimDue = false
    expiry.keep(new Set(set.parts.map(({ info }) => info.name)))
    for (const { info, part } of set.parts.toSorted((a, b) => a.info.bytes - b.info.bytes)) {
      if (part === null || excluded.has(info.name) || !expiry.isDue(info)) continue
      const share = await expiry.shareOf(part, signal)
      if (share < RECLAIMED_SHARE) continue
      if (!this.#room.fits((1 - share) * info.bytes)) {
        expiry.forget(info.name)
        continue
      }
      const expired = await expiry.ofParts(set, [info], signal)
      if (expired === null) continue
      this.#isTrimDue = true
      try {
        return await this.#merge({ inputs: [info] }, set, signal, expired)
      } catch (error) {
        // It is to be looked at again at once, not when more has expired.
        expiry.forget(info.name)
        throw error
      }
    }
    return false
  }

  /** Merges a part of which much was taken away by itself; false when there is none. */
  async #reclaim(set: PartSet, excluded: ReadonlySet<string>, signal: AbortSignal): Promise<boolean> {
    const fits = (bytes: number) => this.#room.fits(bytes)
    const covered = await findCovered(set, excluded, fits, (name) => this.#damaged.add(name), signal)
    return covered !== null && this.#merge({ inputs: [covered] }, set, signal)
  }

  async #merge(
    chosen: MergePlan,
    set: PartSet,
    signal: AbortSignal,
    known: Expired | null = null,
  ): Promise<boolean> {
    const { versions, merger, limits, expiry, folder, namePrefix, takeNumbers } = this.#parts
    const names = new Set(chosen.inputs.map(({ name }) => name))
    try {
      versions.checkOwner()
      const expired = known ?? (await expiry.ofParts(set, chosen.inputs, signal))
      const order: MergeOrder = {
        folder,
        inputs: chosen.inputs,
        others: set.version.parts.filter(({ name }) => !names.has(name)),
        tombstones: set.tombstonesWithout(names).map(({ columns }) => columns),
        expired,
        namePrefix,
        firstNumber: takeNumbers(MOST_OUTPUTS),
        limits,
      }
      const merged = await merger.merge(order, signal).catch((error: unknown) => {
        // Files are missing also where another folder is in the place of this one.
        versions.checkOwner()
        if (signal.aborted || !this.#parts.aside.failed(chosen.inputs, error)) throw error
        return null
      })
      if (merged === null) {
        // What has expired of them is looked for again when their time has come.
        if (known !== null) for (const name of names) expiry.forget(name)
        return true
      }
      this.#merged = { inputs: chosen.inputs, added: merged.added, isTrim: known !== null }
      return await this.#show(this.#merged)
    } catch (error) {
      const { part } = error as { readonly part?: unknown }
      // One that was left alone already would be chosen again and again.
      if (!(error instanceof Damage) || typeof part !== 'string' || this.#damaged.has(part)) throw error
      // Reads and the check report what is wrong with it; it is left as it is.
      this.#damaged.add(part)
    }
    return true
  }

  /** Has a version with the outputs of a merge in place of its inputs. */
  async #show({ inputs, added, isTrim }: Merged): Promise<true> {
    try {
      await this.#parts.versions.edit({ add: added, remove: inputs.map(({ name }) => name) })
    } catch (error) {
      if (error instanceof LostPart) this.#merged = null
      throw error
    }
    this.#merged = null
    this.#hasGivenUp = false
    if (isTrim) {
      this.#trimmedFiles += inputs.length
      this.#removedPoints += pointsIn(inputs) - pointsIn(added)
    }
    return true
  }

  /** Tries again what was set aside when its time has come. */
  #waitForAside(): void {
    if (this.#asideTimer !== null) clearTimeout(this.#asideTimer)
    const { waitMs } = this.#parts.aside
    if (waitMs === null) return
    this.#asideTimer = setTimeout(() => {
      // One that is early by the other clock finds it set aside, and waits for the rest.
      this.#isTrimDue = true
      this.goOn()
    }, waitMs)
    this.#asideTimer.unref()
  }

  /** Merges what is worth it when there is nothing else to do: called again, it waits anew. */
  #waitForIdle(afterMs: number): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      // The flush that was to follow soon never came.
      if (this.#hasty > 0) return this.goOn()
      // Also while a merge is under way, after which it goes on with this.
      this.#isIdle = true
      // What has expired may have room now.
      if (this.#room.lacking !== null) this.#isTrimDue = true
      this.#run()
    }, afterMs)
    this.#idleTimer.unref()
  }

  #retryLater(pauseMs: number): void {
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null
      // In a rest it is tried again as what a rest merges.
      this.#isLookDue = true
      this.#run()
    }, pauseMs)
    this.#retryTimer.unref()
  }
}

const pointsIn = (parts: readonly PartInfo[]) => parts.reduce((sum, { points }) => sum + points, 0)
