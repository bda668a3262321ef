import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Abortable } from '../historian/deadline.ts'

/**
 * A request between its arrival and the end of its answer. Aborted with CANCELLED when the client goes away, or
 * SHUTTING_DOWN when a shutdown waits no longer.
 */
export interface OpenCall extends Abortable {
  /** The same as a signal, made lazily: hardly any call needs one beside that of its deadline. */
  readonly signal: AbortSignal
}

/**
 * A new connection on which nothing has come yet is given so long when a shutdown begins: its request may be on the
 * way.
 */
const FRESH_GRACE_MS = 500

/** How long answers to aborted calls may take before a shutdown cuts their connections. */
const ABORT_GRACE_MS = 1_000

/**
 * How long the rest of a refused body is read and thrown away: a client that sends it all before it reads gets its
 * answer.
 */
const DISCARD_MS = 5_000

/** A client that takes nothing of its answer for so long counts as gone: it holds a call's place and memory. */
const STALL_MS = 60_000

/**
 * The connections of the server and the calls open on each. With pipelining a connection has several, and Node tells
 * only the first of them that the client has gone; here all learn it. Knows when a connection may be closed in a
 * shutdown.
 */
export class Connections {
  readonly #calls = new Map<Socket, Call[]>()
  /** Connections below TLS, which exist before the handshake is through. */
  readonly #raw = new Set<Socket>()
  readonly #stallMs: number
  #closing = false
  #timer: NodeJS.Timeout | undefined
  #sweep: NodeJS.Timeout | undefined

  constructor(stallMs: number = STALL_MS) {
    this.#stallMs = stallMs
  }

  get closing(): boolean {
    return this.#closing
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#raw.add(socket)
      socket.once('close', () => this.#raw.delete(socket))
    })
    const ready = 'setSecureContext' in server ? 'secureConnection' : 'connection'
    server.on(ready, (socket: Socket) => void this.#callsOn(socket))
    this.#sweep = setInterval(() => this.#cutStalled(), this.#stallMs / 2).unref()
  }

  /** @param ended called once, when the answer has been handed over or the connection is gone (then with false) */
  open(request: IncomingMessage, response: ServerResponse, ended: (finished: boolean) => void): OpenCall {
    const socket = request.socket
    const calls = this.#callsOn(socket)
    const call = new Call(request, response, calls, ended, this)
    calls.push(call)
    ;(response as WatchedResponse)[CALL] = call
    // The second call does nothing, so there is no need to take the listeners off.
    response.on('finish', answerFinished)
    response.on('close', answerClosed)
    return call
  }

  /** A call is over; only the first time counts. @param finished whether its answer was handed over */
  end(call: Call, finished: boolean): void {
    const { request, calls } = call
    if (call.isOver) return
    call.isOver = true
    const at = calls.indexOf(call)
    if (at >= 0) calls.splice(at, 1)
    if (!finished) call.abort(new TidemarkError('CANCELLED'))
    if (finished && request.complete === false) discardRest(request)
    if (this.#closing && calls.length === 0) request.socket.destroySoon?.()
    call.ended(finished)
  }

  /** Whether no later request has come on the connection of this one, so that its answer may be the last. */
  isLast(request: IncomingMessage): boolean {
    const last = this.#calls.get(request.socket)?.at(-1)
    return last === undefined || last.request === request
  }

  /**
   * Begins a shutdown: from now on connections close with their last answer, and all of them in `seconds` at the
   * latest.
   */
  close(seconds: number): void {
    this.#closing = true
    setTimeout(() => {
      for (const [socket, calls] of this.#calls) if (calls.length === 0) socket.destroy?.()
    }, FRESH_GRACE_MS).unref()
    this.#timer = setTimeout(() => this.#abortAll(), seconds * 1_000)
  }

  /** All connections are closed: nothing is left to wait for. */
  closed(): void {
    clearTimeout(this.#timer)
    clearInterval(this.#sweep)
  }

  #cutStalled(): void {
    const now = performance.now()
    for (const [socket, calls] of this.#calls) {
      for (const call of calls) {
        if (!call.response.headersSent) continue
        const sent = socket.bytesWritten
        if (call.progress?.sent !== sent) call.progress = { sent, at: now }
        else if (now - call.progress.at >= this.#stallMs) socket.destroy()
      }
    }
  }

  #abortAll(): void {
    for (const calls of this.#calls.values()) {
      for (const call of calls) call.abort(new TidemarkError('SHUTTING_DOWN'))
    }
    this.#timer = setTimeout(() => {
      for (const socket of [...this.#calls.keys(), ...this.#raw]) socket.destroy?.()
    }, ABORT_GRACE_MS)
  }

  #callsOn(socket: Socket): Call[] {
    const known = this.#calls.get(socket)
    if (known !== undefined) return known
    const calls: Call[] = []
    this.#calls.set(socket, calls)
    socket.once('close', () => {
      this.#calls.delete(socket)
      for (const call of calls.splice(0)) this.end(call, false)
    })
    return calls
  }
}

/** Where a response has its call, so that all of them share their listeners. */
const CALL = Symbol('call')
type WatchedResponse = ServerResponse & { [CALL]?: Call }

function answerFinished(this: WatchedResponse): void {
  this[CALL]!.end(true)
}

function answerClosed(this: WatchedResponse): void {
  this[CALL]!.end(this.writableFinished)
}

class Call implements OpenCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** All that are open on the same connection. */
  readonly calls: Call[]
  readonly ended: (finished: boolean) => void
  isOver = false
  /** Bytes that had been sent at the last look, and since when it is as many. */
  progress: { readonly sent: number; readonly at: number } | null = null
  aborted = false
  reason: unknown = undefined
  readonly #connections: Connections
  #listeners: (() => void)[] | null = null
  #controller: AbortController | null = null

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    calls: Call[],
    ended: (finished: boolean) => void,
    connections: Connections,
  ) {
    this.request = request
    this.response = response
    this.calls = calls
    this.ended = ended
    this.#connections = connections
  }

  end(finished: boolean): void {
    if (!this.isOver) this.#connections.end(this, finished)
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  abort(reason: TidemarkError): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners ?? []
    this.#listeners = null
    for (const listener of listeners) listener()
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return
    this.#listeners ??= []
    this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners?.indexOf(listener) ?? -1
    if (index >= 0) this.#listeners!.splice(index, 1)
  }
}

function discardRest(request: IncomingMessage): void {
  request.resume()
  const timer = setTimeout(() => request.socket.destroy(), DISCARD_MS).unref()
  request.once('close', () => clearTimeout(timer))
}
