import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TlsOptions } from '../../historian/remote/tls.ts'

/** Where the server is. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly tls: TlsOptions | null
  readonly connectSeconds: number
}

/** What the server sent to a session at its start. */
export interface BackendKey {
  readonly processId: number
  readonly secretKey: number
}

/** Codes of the two messages that stand before the protocol proper. */
const CANCEL_REQUEST = 80877102
const SSL_REQUEST = 80877103

/**
 * Asks the server to end what a session is doing, over a connection of its own: the protocol has no other way. Resolves
 * when the server has taken the request (it answers nothing) or cannot be reached; never rejects.
 */
export async function cancelBackend(address: ServerAddress, key: BackendKey): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { host, port, tls } = address
  const socket = host.startsWith('/') ? connectPlain(`${host}/.s.PGSQL.${port}`) : connectPlain(port, host)
  const end = () => {
    socket.destroy()
    resolve()
  }
  socket.setTimeout(address.connectSeconds * 1000, end)
  socket.on('error', end).on('close', end)
  socket.once('connect', () => {
    if (tls === null) socket.end(cancelRequest(key))
    else sendEncrypted(socket, host, tls, cancelRequest(key), end)
  })
  socket.resume()
  await promise
}

function sendEncrypted(
  socket: Socket,
  host: string,
  tls: TlsOptions,
  request: Buffer,
  end: () => void,
): void {
  socket.once('data', (answer) => {
    if (answer[0] !== 'S'.charCodeAt(0)) return end()
    const encrypted = connectTls({ socket, host, ...tls }, () => encrypted.end(request))
    encrypted.on('error', end).on('close', end)
    encrypted.resume()
  })
  socket.write(message([SSL_REQUEST]))
}

function cancelRequest({ processId, secretKey }: BackendKey): Buffer {
  return message([CANCEL_REQUEST, processId, secretKey])
}

function message(fields: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + 4 * fields.length)
  bytes.writeInt32BE(bytes.length, 0)
  for (const [index, field] of fields.entries()) bytes.writeInt32BE(field, 4 + 4 * index)
  return bytes
}
