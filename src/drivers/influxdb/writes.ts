import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext, PutMode, PutOutcome, TagPut, WriteBatch } from '../../historian/contract.ts'
import { makeChange, type RemoteChange } from '../../historian/remote/change.ts'
import { CooperativeScheduler } from '../../scheduling/cooperative-scheduler.ts'
import type { InfluxClient } from './client.ts'
import { nameRefused } from './errors.ts'
import { type Layout, type SeriesField, seriesProblem } from './layout.ts'
import { lineKey, lineMeasurement, lineNumber } from './line-protocol.ts'
import type { OwnTags } from './own-tags.ts'
import type { PointStatus } from './point-status.ts'
import type { Tags } from './tags.ts'

/** Characters of one body: InfluxDB takes 25 MB, and what it has read it keeps in memory. */
const MAX_BODY = 4 * 1024 ** 2
/** How long it is taken for granted that a tag that was made is there. */
const KNOWN_MS = 60_000
const MOST_KNOWN = 200_000

/** What changes of points and tags need. */
export interface WriteTarget {
  readonly historian: string
  readonly client: InfluxClient
  readonly layout: Layout
  readonly status: PointStatus
  readonly retentionPolicy: string | undefined
  readonly own: OwnTags
  readonly tags: Tags
}

/** Writes points and metadata, one request after the other where they do not fit into one. */
export class Writer {
  readonly #target: WriteTarget
  /** Tags that were made or found lately, with the time until which that counts. */
  readonly #known = new Map<string, number>()
  #puts: Promise<unknown> = Promise.resolve()

  constructor(target: WriteTarget) {
    this.#target = target
  }

  /**
   * See Historian.write. Changes have no time limit but that of each request, as there may be many of them.
   */
  write(batch: WriteBatch, { signal }: CallContext): Promise<void> {
    return makeChange({ historian: this.#target.historian, signal }, (change) => this.#write(batch, change))
  }

  async #write(batch: WriteBatch, context: RemoteChange): Promise<void> {
    const { tags, own } = this.#target
    const series = new Map(batch.tags.map((tag) => [tag, this.#seriesOf(tag)]))
    const names = [...series.keys()]
    if (!batch.createTags) await this.#requireTags(names, context)
    const now = performance.now()
    const missing = batch.createTags ? names.filter((name) => !((this.#known.get(name) ?? 0) > now)) : []
    const bodies = new Bodies(this.#target, context, own.retentionPolicy)
    for (const name of missing) await bodies.addTag(own.presentLine(name))
    const scheduler = new CooperativeScheduler(context.signal)
    for (const [index, tag] of batch.tags.entries()) {
      await this.#addPoints(bodies, series.get(tag)!, batch, index, scheduler)
    }
    await bodies.finish()
    this.#remember(missing)
    tags.made(missing)
  }

  /** See Historian.putTags. One after the other, as what is there is read first. */
  putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    { signal }: CallContext,
  ): Promise<readonly PutOutcome[]> {
    return makeChange({ historian: this.#target.historian, signal }, (change) => {
      const put = this.#puts.then(() => this.#putTags(entries, mode, change))
      this.#puts = put.catch(() => {})
      return put
    })
  }

  /** Tags may be gone: the next write makes them. */
  doubt(names: readonly string[]): void {
    for (const name of names) this.#known.delete(name)
  }

  /** Tags are gone. */
  forget(names: readonly string[]): void {
    this.doubt(names)
    this.#target.tags.removed(names)
  }

  async #putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    context: RemoteChange,
  ): Promise<readonly PutOutcome[]> {
    const { tags, own } = this.#target
    context.signal.throwIfAborted()
    const refused = new Map<string, TidemarkError>()
    const possible = new Set<string>()
    for (const { name } of entries) {
      const refusal = this.#refusalOf(name)
      if (refusal === null) possible.add(name)
      else refused.set(name, refusal)
    }
    const names = [...possible]
    const there = new Set<string>()
    if (mode !== 'upsert') {
      const found = await tags.find(names, context)
      names.forEach((name, index) => {
        if (found[index]) there.add(name)
      })
    }
    const stored = new Map<string, TagPut['metadata']>()
    const outcomes = entries.map(({ name, metadata }): PutOutcome => {
      const refusal = refused.get(name)
      if (refusal !== undefined) return refusal
      if (mode === 'create' && there.has(name)) return 'exists'
      if (mode === 'update' && !there.has(name)) return 'missing'
      there.add(name)
      // What this entry leaves as it is may be new in one before it.
      stored.set(name, { ...stored.get(name), ...metadata })
      return 'stored'
    })
    const bodies = new Bodies(this.#target, context, own.retentionPolicy)
    for (const [name, metadata] of stored) await bodies.addTag(own.metadataLine(name, metadata))
    await bodies.finish()
    for (const [name, metadata] of stored) tags.changed(name, metadata)
    return outcomes
  }

  async #requireTags(names: readonly string[], context: CallContext): Promise<void> {
    const { historian, tags } = this.#target
    const found = await tags.find(names, context)
    const missing = names.find((_, index) => found[index] === null)
    if (missing !== undefined) throw new TidemarkError('TAG_NOT_FOUND', { historian, tag: missing })
  }

  async #addPoints(
    bodies: Bodies,
    series: SeriesField,
    { offsets, points: { times, values, statuses } }: WriteBatch,
    tag: number,
    scheduler: CooperativeScheduler,
  ): Promise<void> {
    const { status } = this.#target
    const tags = series.tags.map(([key, value]) => `,${lineKey(key)}=${lineKey(value)}`).join('')
    const start = `${lineMeasurement(series.measurement)}${tags} ${lineKey(series.field)}=`
    for (let i = offsets[tag]!; i < offsets[tag + 1]!; i++) {
      bodies.add(`${start}${lineNumber(values[i]!)}${status.inLine(statuses[i]!)} ${times[i]}\n`)
      if (bodies.isFull) await bodies.send()
      if (i % 1_024 === 0) await scheduler.yieldIfDue()
    }
  }

  #seriesOf(tag: string): SeriesField {
    const refusal = this.#refusalOf(tag)
    if (refusal !== null) throw refusal
    return this.#target.layout.parse(tag)!
  }

  /** Why there can be no such tag; `null` when there can. */
  #refusalOf(tag: string): TidemarkError | null {
    const { historian, layout, own, status } = this.#target
    const kept = { measurement: own.measurement, statusField: status.field }
    const series = layout.parse(tag)
    const problem = series === null ? 'its name is not made as tagName says' : seriesProblem(series, kept)
    return problem === null ? null : nameRefused(historian, tag, problem)
  }

  #remember(names: readonly string[]): void {
    if (this.#known.size + names.length > MOST_KNOWN) this.#known.clear()
    const until = performance.now() + KNOWN_MS
    for (const name of names.slice(0, MOST_KNOWN)) this.#known.set(name, until)
  }
}

/** Lines put together to bodies of a bounded size, sent in order. */
class Bodies {
  readonly #target: WriteTarget
  readonly #change: RemoteChange
  readonly #tagsPolicy: string | undefined
  #lines = ''
  /** Lines for the retention policy of the mapping measurement, where that is another one. */
  #tagLines = ''

  constructor(target: WriteTarget, change: RemoteChange, tagsPolicy: string | undefined) {
    this.#target = target
    this.#change = change
    this.#tagsPolicy = tagsPolicy
  }

  get isFull(): boolean {
    return this.#lines.length >= MAX_BODY
  }

  add(line: string): void {
    this.#lines += line
  }

  async addTag(line: string): Promise<void> {
    if (this.#tagsPolicy === this.#target.retentionPolicy) {
      this.#lines += line
      if (this.isFull) await this.send()
      return
    }
    this.#tagLines += line
    if (this.#tagLines.length >= MAX_BODY) await this.#sendTags()
  }

  async send(): Promise<void> {
    await this.#sendTags()
    const body = this.#lines
    this.#lines = ''
    await this.#send(body, this.#target.retentionPolicy)
  }

  async finish(): Promise<void> {
    await this.send()
  }

  /** Tags before points: points of a tag that is not there would be found by nobody. */
  async #sendTags(): Promise<void> {
    const body = this.#tagLines
    this.#tagLines = ''
    await this.#send(body, this.#tagsPolicy)
  }

  async #send(body: string, policy: string | undefined): Promise<void> {
    if (body === '') return
    await this.#change.request((attempt) => this.#target.client.write(body, policy, attempt))
  }
}
