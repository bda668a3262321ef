import type { Access, ColumnsBody, MultiBody } from '../access.ts'
import { CommandError } from '../exit.ts'
import { joinErrors } from '../hints.ts'

/** Points requested in one call; a service may allow fewer, then calls get smaller. */
const POINTS_PER_CALL = 50_000
const TAGS_PER_CALL = 50

/** Raw points of one tag, some of them. */
export interface Page {
  readonly address: string
  /** Epoch milliseconds, a fraction for microseconds; ascending. */
  readonly timestamps: readonly number[]
  readonly values: readonly (number | null)[]
  /** Null when all are OK. */
  readonly statuses: readonly string[] | null
  /** The next page of the tag; null when this was all. */
  readonly next: string | null
}

export interface PageRange {
  readonly from: string
  readonly to: string
  readonly timeZone: string | undefined
}

/** Reads raw points page by page, as large as the limits of the other side allow. */
export class PageReader {
  readonly #access: Access
  readonly #range: PageRange
  /** One for all calls, so that relative times mean the same in each. */
  readonly #now = new Date().toISOString()
  #pointsPerCall = POINTS_PER_CALL
  #tagsPerCall = TAGS_PER_CALL
  /** What the other side leaves out of its answers, as sentences. */
  readonly warnings = new Set<string>()

  constructor(access: Access, range: PageRange) {
    this.#access = access
    this.#range = range
  }

  get tagsPerCall(): number {
    return this.#tagsPerCall
  }

  /**
   * The next page of each tag, in the order given.
   * @param tags at most `tagsPerCall`; `next` is null for the first page
   * @throws CommandError for a tag that cannot be read
   */
  async read(
    tags: readonly { readonly address: string; readonly next: string | null }[],
  ): Promise<readonly Page[]> {
    const maxPoints = Math.max(1, Math.floor(this.#pointsPerCall / tags.length))
    const answer = await this.#access.multi({
      format: 'columns',
      now: this.#now,
      ...(this.#range.timeZone !== undefined && { timeZone: this.#range.timeZone }),
      requests: Object.fromEntries(
        tags.map(({ address, next }, index) => [String(index), this.#request(address, next, maxPoints)]),
      ),
    })
    if (isLimitBreach(answer)) return await this.#readSmaller(tags, answer)
    const errors = Object.values(answer.errors)
    if (errors.length > 0) throw new CommandError(joinErrors('Not everything can be read', errors))
    for (const warning of answer.warnings ?? []) this.warnings.add(warning)
    return tags.map(({ address }, index) => {
      const { dataPoints } = answer.results[String(index)] as { dataPoints: ColumnsBody }
      const { timestamps, values, statuses } = dataPoints
      return { address, timestamps, values, statuses: statuses ?? null, next: answer.next?.[index] ?? null }
    })
  }

  #request(tag: string, next: string | null, maxPoints: number): object {
    const { from, to } = this.#range
    const range = next === null ? { from, to, rightBoundary: 'EXCLUDE' } : { cursor: next, from, to }
    return { type: 'RAW_POINTS', tag, details: { ...range, maxPoints } }
  }

  /** The limits of the other side are smaller than ours: halves what a call requests, and keeps to it. */
  async #readSmaller(
    tags: readonly { readonly address: string; readonly next: string | null }[],
    answer: MultiBody,
  ): Promise<readonly Page[]> {
    if (tags.length > 1) {
      this.#tagsPerCall = Math.ceil(tags.length / 2)
      const first = await this.read(tags.slice(0, this.#tagsPerCall))
      return [...first, ...(await this.read(tags.slice(first.length)))]
    }
    if (this.#pointsPerCall <= 100)
      throw new CommandError(answer.message ?? 'The limits of the service are too small')
    this.#pointsPerCall = Math.floor(this.#pointsPerCall / 2)
    return await this.read(tags)
  }
}

function isLimitBreach({ issues }: MultiBody): boolean {
  return issues?.[0]?.code.startsWith('LIMIT_') === true
}
