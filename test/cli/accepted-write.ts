import { once } from 'node:events'
import { connect } from 'node:net'
import { until } from '../until.ts'
import type { RunningService } from './run.ts'

/** A write that the service accepted, and whose body is still to come. */
export interface AcceptedWrite {
  /** Sends the beginning of its body. */
  begin(): void
  /** Sends the rest and waits for the end of the connection; gives all that was answered. */
  finish(): Promise<string>
}

/** Sends the head of a write, and waits until the service has accepted it: it asks for a body only then. */
export async function acceptedWrite({ url, writeKey }: RunningService): Promise<AcceptedWrite> {
  const { hostname, port } = new URL(url)
  const body = JSON.stringify({ points: { 'local/A': [{ timestamp: 1, value: 2 }] }, createTags: true })
  const socket = connect(Number(port), hostname)
  const closed = once(socket, 'close')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  const head = `POST /historian/write/points HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${writeKey}\r\n`
  const length = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  socket.write(`${head}${length}Expect: 100-continue\r\n\r\n`)
  await until(() => answer.startsWith('HTTP/1.1 100 '), 'the call is accepted')
  let sent = 0
  return {
    begin() {
      sent = 20
      socket.write(body.slice(0, sent))
    },
    async finish() {
      socket.write(body.slice(sent))
      await closed
      return answer
    },
  }
}
