import type { Server } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import type { Logger } from 'pino'
import { TimeSlice } from '../scheduling/time-slice.ts'
import { addressGroup } from './work.ts'

export interface ConnectionLimitSettings {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Addresses, ranges and names of ranges: behind one of them are many clients. */
  readonly trustedProxies: readonly string[]
}

/** A flood is reported in the log once in this time. */
const LOG_EVERY_MS = 60_000

/** Ranges that `server.trustedProxies` may name. */
const NAMED_RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/**
 * Bounds the connections of the server, and those of one address. A further one is closed without an answer: making
 * one costs more than a client that floods pays for it.
 */
export class ConnectionLimits {
  readonly #most: number
  readonly #mostOfAddress: number
  readonly #proxies = new BlockList()
  readonly #log: Logger
  readonly #ofAddress = new Map<string, number>()
  #open = 0
  #refused = 0
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(settings: ConnectionLimitSettings, log: Logger) {
    this.#most = settings.maxConnections
    this.#mostOfAddress = settings.maxConnectionsPerAddress
    this.#log = log
    for (const proxy of settings.trustedProxies) {
      for (const range of NAMED_RANGES[proxy] ?? [proxy]) addRange(this.#proxies, range)
    }
  }

  get open(): number {
    return this.#open
  }

  /** Connections that were closed at once, since the start. */
  get refused(): number {
    return this.#refused
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#take(socket))
  }

  #take(socket: Socket): void {
    TimeSlice.shared.postpone()
    const address = socket.remoteAddress
    // Of one that is gone already nothing is known.
    if (address === undefined) return
    if (this.#open >= this.#most) {
      this.#refuse(socket, { limit: this.#most })
      return
    }
    this.#open++
    socket.once('close', () => {
      this.#open--
    })
    if (this.#isProxy(address)) return
    const group = addressGroup(address)
    const open = this.#ofAddress.get(group) ?? 0
    if (open >= this.#mostOfAddress) {
      this.#refuse(socket, { limit: this.#mostOfAddress, client: group })
      return
    }
    this.#ofAddress.set(group, open + 1)
    socket.once('close', () => {
      const left = this.#ofAddress.get(group)! - 1
      if (left === 0) this.#ofAddress.delete(group)
      else this.#ofAddress.set(group, left)
    })
  }

  #isProxy(address: string): boolean {
    return this.#proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }

  #refuse(socket: Socket, fields: object): void {
    this.#refused++
    socket.destroy()
    const now = performance.now()
    if (now - this.#loggedAt < LOG_EVERY_MS) return
    this.#loggedAt = now
    this.#log.warn({ ...fields, refused: this.#refused }, 'connections beyond the limit are closed at once')
  }
}

function addRange(list: BlockList, range: string): void {
  const [address = '', bits] = range.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (bits === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(bits), family)
}
