/** Time slice of all long calls of a process together within one tick of the event loop. */
const SLICE_MS = 5
/** Work that began longer ago most likely did so in another tick. */
const EARLIER_MS = 20

/**
 * Cooperative scheduling among all long calls of a process. A slice for each call would not do: 64 calls that come
 * together would take 64 slices in one tick, in which no other request is read. So they share one slice a tick: when it
 * is spent, each call yields at its next check, and the calls that yielded go on in FIFO order, one in each tick of the
 * event loop.
 */
export class TimeSlice {
  static readonly shared = new TimeSlice()

  /** When the slice of this tick began; `null` before the first check. */
  #began: number | null = null
  readonly #waiting: (() => void)[] = []
  readonly #ahead = new Set<() => void>()
  #isStepping = false
  #isPostponed = false
  /** Since when calls that yielded wait for what comes first; `null` where they do not. */
  #postponedAt: number | null = null
  readonly #endTick = () => {
    this.#began = null
  }
  readonly #step = () => {
    if (this.#ahead.size > 0) this.#runAhead()
    const now = performance.now()
    if (this.#isPostponed) {
      this.#isPostponed = false
      this.#postponedAt ??= now
      if (now - this.#postponedAt < SLICE_MS) {
        setImmediate(this.#step)
        return
      }
    }
    this.#postponedAt = null
    this.#began = now
    this.#waiting.shift()!()
    if (this.#waiting.length > 0) setImmediate(this.#step)
    else {
      this.#isStepping = false
      setImmediate(this.#endTick)
    }
  }

  /**
   * Whether the slice of this tick is spent.
   * @param since when the caller's work began, as `performance.now` tells: the first check of a tick counts the work
   *              before it; now when left out
   */
  isSpent(since?: number): boolean {
    const now = performance.now()
    if (this.#began === null) {
      this.#began = since === undefined || now - since > EARLIER_MS ? now : since
      if (!this.#isStepping) setImmediate(this.#endTick)
    }
    return now - this.#began > SLICE_MS
  }

  /**
   * Has short work done before a call that yielded goes on in this tick: answers that are ready do not wait for a
   * slice.
   * @param work  repeatable, never throws; done once at most, and not at all where no call goes on
   */
  before(work: () => void): void {
    this.#ahead.add(work)
  }

  /**
   * Calls that yielded go on one tick later, for one slice at most: connections are accepted one in each tick, and many
   * that come together would wait for as many slices.
   */
  postpone(): void {
    this.#isPostponed = this.#isStepping
  }

  #runAhead(): void {
    const all = [...this.#ahead]
    this.#ahead.clear()
    for (const work of all) work()
  }

  /**
   * FIFO queue: resolves in a later tick, when the callers before this one have gone on.
   * @param isFirst  resolves in the next tick, beside the one whose turn it is: for work of which there is one at a
   *                 time, and for which all others wait
   */
  next(isFirst = false): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (isFirst) {
      setImmediate(resolve)
      return promise
    }
    this.#waiting.push(resolve)
    if (!this.#isStepping) {
      this.#isStepping = true
      setImmediate(this.#step)
    }
    return promise
  }
}
