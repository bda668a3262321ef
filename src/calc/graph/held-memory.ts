import { FIXED_LIMITS } from '../../errors/limits.ts'
import { MemoryGate } from '../../scheduling/memory-gate.ts'

/** What each call may hold at any time; one call of the service at a time holds more. */
const LIGHT_BYTES = 16 * 2 ** 20
const HEAVY_CALLS = new MemoryGate(1)
/** A value that waits for those of its inputs, in columns of all operators on the way, and what each wait takes. */
const PENDING_VALUE_BYTES = 45
const PENDING_CALL_BYTES = 2_250
/** A value that is remembered, and the promise, the key and the entry of each column of them. */
const REMEMBERED_VALUE_BYTES = 8
const REMEMBERED_COLUMN_BYTES = 400
/** With so much that waits, the inputs of an operator are worked out one after the other. */
const CROWDED_BYTES = 2 * 2 ** 20

const NEVER = new AbortController().signal

/**
 * What the deep calculations of a call hold: values that wait for those of their inputs, and values that are
 * remembered, since the same values at shifted times differ on each level. It is limited, and calls that hold much work
 * one after the other.
 */
export class HeldMemory {
  readonly #signal: AbortSignal
  readonly #exhaust: () => never
  #pending = 0
  #remembered = 0
  #turn: HeavyTurn | null = null

  /**
   * @param signal   aborted when the call is over
   * @param exhaust  throws when a call would hold more than it may
   */
  constructor(signal: AbortSignal | undefined, exhaust: () => never) {
    this.#signal = signal ?? NEVER
    this.#exhaust = exhaust
  }

  /**
   * Whether so much waits that an operator had better work out its inputs one after the other than at once: the whole
   * tree of the inputs of 50 operators inside each other would wait otherwise, in place of one way through it.
   */
  get isCrowded(): boolean {
    return this.#pending > CROWDED_BYTES
  }

  /** Work that waits for values of inputs, so many as it gives itself. */
  async during<Result>(values: number, work: () => Promise<Result>): Promise<Result> {
    const bytes = PENDING_CALL_BYTES + PENDING_VALUE_BYTES * values
    this.#pending += bytes
    try {
      const held = this.#pending + this.#remembered
      if (held > FIXED_LIMITS.heldBytes.limit) this.#exhaust()
      if (held > LIGHT_BYTES) await this.#heavyTurn()
      return await work()
    } finally {
      this.#pending -= bytes
      if (this.#pending === 0) this.#endTurn()
    }
  }

  /** A column of values is kept until the end of the call. */
  remember(values: number): void {
    this.#remembered += REMEMBERED_COLUMN_BYTES + REMEMBERED_VALUE_BYTES * values
  }

  /** Waits until no other call is heavy; rejects when this one is over. */
  #heavyTurn(): Promise<void> {
    this.#signal.throwIfAborted()
    this.#turn ??= takeTurn(this.#signal)
    return this.#turn.entered
  }

  #endTurn(): void {
    this.#turn?.end()
    this.#turn = null
  }
}

/** The time in which a call is the heavy one. */
interface HeavyTurn {
  readonly entered: Promise<void>
  readonly end: () => void
}

function takeTurn(signal: AbortSignal): HeavyTurn {
  const entered = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const end = (): void => {
    // What waits for a historian that does not end with its signal must not keep others waiting.
    signal.removeEventListener('abort', end)
    left.resolve()
  }
  signal.addEventListener('abort', end, { once: true })
  const enter = () => {
    entered.resolve()
    return left.promise
  }
  HEAVY_CALLS.run(1, signal, enter).catch(entered.reject)
  return { entered: entered.promise, end }
}
