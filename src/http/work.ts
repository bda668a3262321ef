import { TidemarkError } from '../errors/tidemark-error.ts'

/** Seconds that a client refused for load is asked to wait: calls end within moments or at their deadline. */
export const RETRY_AFTER_SECONDS = 1

/** Bounds of what all calls together take of the service. */
export interface WorkLimits {
  /** Calls in work at a time. */
  readonly maxConcurrentCalls: number
  /** Bytes of bodies, and of what is made of them, at a time. */
  readonly maxBytesInWork: number
  /** Percent of either that one key, or one address, may have when nobody else wants any; 100 for all. */
  readonly callerSharePercent: number
}

/** Who a call is from: its key and its address, which share fairly with others of their sort. */
export interface CallSource {
  /** Name of the key. */
  readonly key: string
  /** As `addressGroup` makes it. */
  readonly address: string
}

/** What one key, or one address, has. */
interface Holder {
  places: number
  bytes: number
  /** Calls that arrive or are in work: it is forgotten with the last one. */
  calls: number
}

/**
 * The calls in work and the bytes of their bodies, both bounded, and shared by dynamic thresholds: a key, and an
 * address, gets more only while it has no more than a multiple of what is free. So one alone can have
 * `callerSharePercent`, two together somewhat more, and something is always left for one that has nothing yet.
 *
 * A call that arrives holds the bytes that came, and no place before its body is whole: what is announced and does not
 * come keeps nobody out. A place is held until the answer has gone and its handler has ended, whichever is later: a
 * call whose client went away still works for a moment.
 */
export class WorkInHand {
  readonly #maxPlaces: number
  readonly #maxBytes: number
  /** How many times what is free one holder may have. */
  readonly #multiple: number
  readonly #keys = new Map<string, Holder>()
  readonly #addresses = new Map<string, Holder>()
  #places = 0
  #bytes = 0
  #arriving = 0
  #idle: (() => void)[] = []

  constructor({ maxConcurrentCalls, maxBytesInWork, callerSharePercent }: WorkLimits) {
    this.#maxPlaces = maxConcurrentCalls
    this.#maxBytes = maxBytesInWork
    this.#multiple = callerSharePercent / (100 - callerSharePercent)
  }

  /** Calls in work. */
  get calls(): number {
    return this.#places
  }

  /** Calls whose body is still coming. */
  get arriving(): number {
    return this.#arriving
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Takes a call in whose body is still to come. @throws OVERLOADED when it could not begin now */
  arrive({ key, address }: CallSource): WorkShare {
    const holders = [this.#keys.get(key), this.#addresses.get(address)]
    for (const holder of holders) this.#checkPlace(holder)
    this.#arriving++
    return new WorkShare(this, holderOf(this.#keys, key), holderOf(this.#addresses, address), () => {
      forget(this.#keys, key)
      forget(this.#addresses, address)
    })
  }

  /** A call that arrived begins. @throws OVERLOADED when no place is free for it */
  begin(key: Holder, address: Holder): void {
    this.#checkPlace(key)
    this.#checkPlace(address)
    this.#arriving--
    this.#places++
    key.places++
    address.places++
  }

  /** Whether a call that holds `held` bytes may hold `bytes`. @throws OVERLOADED when not */
  checkBytes(bytes: number, held: number, key: Holder, address: Holder): void {
    const free = this.#maxBytes - (this.#bytes - held) - bytes
    if (free < 0) throw overloaded(`request bodies of ${this.#bytes - held} bytes`)
    for (const holder of [key, address]) {
      const others = holder.bytes - held
      // One call alone may hold what is free: limits of bodies bound it.
      if (others > 0 && others + bytes > this.#multiple * free)
        throw overloaded(`request bodies of ${others} bytes of the same key or address`)
    }
  }

  /** A call holds `bytes` where it held `held`. @throws OVERLOADED when that is too much beside the others */
  hold(bytes: number, held: number, key: Holder, address: Holder): void {
    this.checkBytes(bytes, held, key, address)
    const more = bytes - held
    this.#bytes += more
    key.bytes += more
    address.bytes += more
  }

  /** A call with what it held is over. */
  end(held: number, began: boolean, key: Holder, address: Holder): void {
    for (const holder of [key, address]) {
      holder.bytes -= held
      if (began) holder.places--
      holder.calls--
    }
    this.#bytes -= held
    if (began) this.#places--
    else this.#arriving--
    if (this.#places === 0) for (const done of this.#idle.splice(0)) done()
  }

  /** Resolves when no call is in work. */
  async idle(): Promise<void> {
    if (this.#places > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #checkPlace(holder: Holder | undefined): void {
    if (this.#places >= this.#maxPlaces) throw overloaded(`${this.#places} calls`)
    const places = holder?.places ?? 0
    // One that has no place yet takes the last one, too.
    if (places > 0 && places >= this.#multiple * (this.#maxPlaces - this.#places))
      throw overloaded(`${places} calls of the same key or address`)
  }
}

function holderOf(holders: Map<string, Holder>, name: string): Holder {
  let holder = holders.get(name)
  if (holder === undefined) {
    holder = { places: 0, bytes: 0, calls: 0 }
    holders.set(name, holder)
  }
  holder.calls++
  return holder
}

function forget(holders: Map<string, Holder>, name: string): void {
  if (holders.get(name)?.calls === 0) holders.delete(name)
}

/** What one call holds; taken with one user, the connection that waits for the answer. */
export class WorkShare {
  readonly #work: WorkInHand
  readonly #key: Holder
  readonly #address: Holder
  readonly #over: () => void
  #held = 0
  #users = 1
  #began = false

  /** Use `WorkInHand.arrive`. */
  constructor(work: WorkInHand, key: Holder, address: Holder, over: () => void) {
    this.#work = work
    this.#key = key
    this.#address = address
    this.#over = over
  }

  /** The call is whole and takes its place; only the first time counts. @throws OVERLOADED when none is free for it */
  begin(): void {
    if (this.#began || this.#users === 0) return
    this.#work.begin(this.#key, this.#address)
    this.#began = true
  }

  /** Whether so many bytes could be held now; nothing is held for them. @throws OVERLOADED when they could not */
  checkBytes(bytes: number): void {
    if (bytes > this.#held) this.#work.checkBytes(bytes, this.#held, this.#key, this.#address)
  }

  /**
   * Holds so many bytes in all; less than before changes nothing. @throws OVERLOADED when that is too much beside the
   * others
   */
  holdBytes(bytes: number): void {
    if (bytes <= this.#held || this.#users === 0) return
    this.#work.hold(bytes, this.#held, this.#key, this.#address)
    this.#held = bytes
  }

  /** One more user; each leaves once. */
  use(): void {
    this.#users++
  }

  leave(): void {
    if (--this.#users > 0) return
    this.#work.end(this.#held, this.#began, this.#key, this.#address)
    this.#over()
  }
}

/**
 * An address as one client has it: of IPv6 the network of 64 bits, which a single machine has to itself; an IPv4
 * address inside of IPv6 is that of IPv4.
 */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1]!
  const [head = '', tail] = address.split('%', 1)[0]!.split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - groups.length - after.length
  return [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after].slice(0, 4).join(':')
}

function overloaded(reason: string): TidemarkError {
  return new TidemarkError('OVERLOADED', { reason, seconds: RETRY_AFTER_SECONDS })
}
