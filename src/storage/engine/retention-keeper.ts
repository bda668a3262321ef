import { join } from 'node:path'
import type { RetentionMeasures } from '../../historian/measures.ts'
import { formatInstant } from '../../time/format.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { Damage } from '../damage.ts'
import { type Files, isWithoutSpace } from '../files/files.ts'
import type { RetentionState } from '../manifest/retention-state.ts'
import { carriedOver, hasRules, type RetentionRule, watermarksAt } from '../retention/rules.ts'
import {
  CLOCK_TOLERANCE_US,
  type RetentionTime,
  SteadyClock,
  type SteadyTime,
} from '../retention/steady-clock.ts'
import { NO_WATERMARK, TagWatermarks } from '../retention/tag-watermarks.ts'
import type { Committer } from './committer.ts'
import type { EngineState } from './engine-state.ts'
import type { Draft } from './plan-changes.ts'
import type { Reserve } from './reserve.ts'
import type { Trouble, TroubleLog } from './trouble.ts'
import type { VersionLog } from './version-log.ts'

/** What retention is configured with. */
export interface RetentionOptions {
  readonly rules: readonly RetentionRule[]
  /** The machine's clocks when left out. */
  readonly time?: RetentionTime
}

/** What moving watermarks takes. */
export interface RetentionParts {
  readonly options: RetentionOptions
  /** How often watermarks move, in milliseconds. */
  readonly everyMs: number
  readonly files: Files
  /** Of the historian. */
  readonly folder: string
  readonly state: EngineState
  readonly committer: Committer
  readonly versions: VersionLog
  readonly reserve: Reserve
  /** Waits for what is being removed; whether there was any. */
  makeRoom(): Promise<boolean>
  readonly trouble: Trouble
  readonly log: TroubleLog | null
  /** Called when watermarks have moved. */
  moved(): void
}

/** A file of this name in the historian's folder says that the clock is right. */
const CLOCK_IS_RIGHT = 'clock-is-right'
/**
 * How often the clock is noted where no watermark moves, as that of a rule which keeps more than it did: a start
 * compares the clock with what was noted last, and would take all the time since then for a jump.
 */
const NOTED_EVERY_US = CLOCK_TOLERANCE_US / 4
/** Ids of tags that are looked at in one change when rules are others than before. */
const IDS_AT_ONCE = 1_000

export const MACHINE_TIME: RetentionTime = {
  wallUs: () => Date.now() * 1_000,
  monotonicMs: () => performance.now(),
}

/**
 * Moves the watermarks of a historian as time passes, each move durable in the manifest before anything follows from
 * it. Where the configuration has other rules than the manifest, what no read shows is removed first of tags whose
 * watermark would go back: so nothing comes back, whatever becomes of rules.
 */
export class RetentionKeeper {
  readonly #parts: RetentionParts
  readonly #clock: SteadyClock
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #isSettled = false
  #jump: string | null = null

  constructor(parts: RetentionParts) {
    this.#parts = parts
    const { retention } = parts.versions.version
    this.#clock = new SteadyClock(parts.options.time ?? MACHINE_TIME, retention?.clock ?? null)
    if (parts.options.rules.length === 0 && retention === null) this.#isSettled = true
    else {
      void this.run()
      this.#timer = setInterval(() => void this.run(), parts.everyMs)
      this.#timer.unref()
    }
  }

  /** What somebody should look at; `null` for nothing. */
  get sentence(): string | null {
    return this.#parts.trouble.sentence ?? this.#jump
  }

  /** `null` where there are no rules. */
  get measures(): Pick<RetentionMeasures, 'watermark' | 'paused'> | null {
    const { options, versions, trouble } = this.#parts
    if (options.rules.length === 0) return null
    const latest = Math.max(NO_WATERMARK, ...(versions.version.retention?.watermarks ?? []))
    return {
      watermark: latest === NO_WATERMARK ? null : latest,
      paused: trouble.reason !== null ? 'error' : this.#jump !== null ? 'clock' : null,
    }
  }

  /** Moves the watermarks now. Never rejects: what fails is reported as trouble. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** Moves them by a time that is not earlier than the call. */
  async runAnew(): Promise<void> {
    await this.#running
    await this.run()
  }

  /** Whether the configured rules are those that count. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Resolves when the configured rules are those that count. Throws WRITE_FAILED when they cannot become it. */
  async settled(): Promise<void> {
    const { errors, damage } = this.#parts.state
    if (this.#isSettled || damage !== null) return
    await this.run()
    if (this.#isSettled) return
    throw errors.writeFailed(this.#parts.trouble.sentence ?? 'the rules of retention are being changed')
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#closing.abort(new Error('the historian is closed'))
    await this.#running
  }

  async #run(): Promise<void> {
    const { trouble, state, options } = this.#parts
    // What cannot be read of the log may be of any tag: nothing is changed.
    if (this.#closing.signal.aborted || state.damage !== null) return
    try {
      if (!this.#isSettled) await this.#settle()
      this.#isSettled = true
      if (options.rules.length > 0) await this.#move()
      trouble.over()
    } catch (error) {
      if (!this.#closing.signal.aborted) trouble.failed(error)
    }
  }

  /** Makes the configured rules those of the version. */
  async #settle(): Promise<void> {
    const { options, versions, state, committer } = this.#parts
    const { rules } = options
    const before = versions.version.retention
    if (before === null || hasRules(rules, before)) return
    const after = carriedOver(rules, before)
    const watermarks = new TagWatermarks()
    const { signal } = this.#closing
    for (let id = 1; id < state.catalog.entries.nextId; id += IDS_AT_ONCE) {
      await committer.change('removal', signal, (draft) => this.#removeHidden(draft, id, watermarks, after))
    }
    await this.#edit(rules.length === 0 ? null : after)
  }

  async #removeHidden(
    draft: Draft,
    first: number,
    watermarks: TagWatermarks,
    after: RetentionState,
  ): Promise<void> {
    const { catalog, parts } = this.#parts.state
    for (let id = first; id < first + IDS_AT_ONCE; id++) {
      if (draft.watermarkOf(id) <= watermarks.of(after, catalog, id)) continue
      try {
        await draft.removeHidden(id)
      } catch (error) {
        // Which of its points stay is not known, and its other hidden points would come back by later watermarks.
        // Of a part whose table is damaged the next run may find what is intact.
        if (error instanceof Damage) parts.recover().catch(() => {})
        throw error
      }
      if (draft.pace.isDue()) await draft.pace.pause()
    }
  }

  async #move(): Promise<void> {
    const { options, versions } = this.#parts
    const time = this.#look()
    this.#report(time)
    if (time.kind === 'jumped') return
    const before = versions.version.retention
    const after = watermarksAt(options.rules, before, time.us)
    const isSame =
      before !== null && after.watermarks.every((watermark, i) => watermark === before.watermarks[i])
    if (isSame && after.clock - before.clock < NOTED_EVERY_US) return
    await this.#edit(after)
    if (!isSame) this.#parts.moved()
  }

  #look(): SteadyTime {
    const time = this.#clock.look()
    const { files, folder } = this.#parts
    const path = join(folder, CLOCK_IS_RIGHT)
    if (time.kind === 'known' || !files.exists(path)) return time
    files.remove(path)
    return this.#clock.believe()
  }

  async #edit(retention: RetentionState | null): Promise<void> {
    const { versions, reserve, makeRoom } = this.#parts
    try {
      await versions.edit({ retention })
    } catch (error) {
      if (!isWithoutSpace(error) || !((await makeRoom()) || reserve.giveUp(error))) throw error
      await versions.edit({ retention })
    }
  }

  #report(time: SteadyTime): void {
    const { log, state, options } = this.#parts
    const fields = { historian: state.historian }
    if (time.kind === 'known') {
      if (this.#jump !== null) log?.info(fields, 'retention goes on')
      this.#jump = null
      return
    }
    const hours = Math.max(1, Math.round(Math.abs(time.byUs) / 3_600_000_000))
    const until = (options.time ?? MACHINE_TIME).wallUs() + time.believedInUs
    const sentence =
      `retention stands still, as the clock is ${hours} ${hours === 1 ? 'hour' : 'hours'} ` +
      `${time.byUs > 0 ? 'ahead of' : 'behind'} what it should be: correct it; or, if it is right, make an empty file ` +
      `${CLOCK_IS_RIGHT} in the folder of the historian, or wait until ${formatInstant(instantFromUs(until), UTC)}`
    if (this.#jump === null) log?.error(fields, sentence)
    this.#jump = sentence
  }
}
