import { randomUUID } from 'node:crypto'
import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'

/** What Node's parser refuses, by its code; anything else is no HTTP request at all. */
const REFUSALS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The head of the request is larger than 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
  HPE_INVALID_METHOD: [400, 'The method is not known: GET or POST is expected'],
}
const NOT_HTTP = [400, 'This is not a valid HTTP/1.1 request'] as const

/**
 * Answers what is no request, and so never reaches Fastify, in the shape of every other error. Node's error holds the
 * bytes as they came, a key among them perhaps: only its code is logged.
 */
export function addClientErrors(server: Server, log: Logger): void {
  // Fastify has put its own handler there, whose answers have another shape.
  server.removeAllListeners('clientError')
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const code = error.code ?? 'unknown'
    if (code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
      socket.destroy()
      return
    }
    const [status, message] = REFUSALS[code] ?? NOT_HTTP
    refuse(socket, status, message, code, log)
  })
  // Node has no answer to this method at all.
  server.on('connect', (_request: unknown, socket: Socket) => {
    socket.on('error', () => {})
    refuse(socket, 405, 'CONNECT is not allowed: this is no proxy', 'CONNECT', log)
  })
}

function refuse(socket: Socket, status: number, message: string, code: string, log: Logger): void {
  const requestId = randomUUID()
  log.info({ requestId, status, code, client: socket.remoteAddress }, 'refused what is no request')
  const body = JSON.stringify({ message, errors: [] })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Whether part of another answer is on its way, into which nothing may be written. */
function isAnswering(socket: Socket): boolean {
  const current = (socket as { _httpMessage?: { headersSent?: boolean } | null })._httpMessage
  return current?.headersSent === true
}
