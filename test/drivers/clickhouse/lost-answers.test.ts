import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { assertPoints, EVER, points } from '../../contract/points.ts'
import { type ClickhouseServer, clickhouseServer, startClickhouse } from '../../servers/clickhouse.ts'
import { openHistorian } from './open.ts'

const context = { signal: new AbortController().signal }
const NO_METADATA = { description: null, units: null, stepped: false }

/** What stands between a gateway and its server after an insert was taken and its answer was lost. */
const AFTERWARDS = {
  'nothing that listens': null,
  'a server that has too many queries': [
    '500 Internal Server Error',
    'Code: 202. DB::Exception: Too many simultaneous queries. Maximum: 100',
  ],
  'a load balancer without a server': ['502 Bad Gateway', '<html>Bad Gateway</html>'],
} as const

describe('an insert that was taken, and whose repetitions fail', { skip: clickhouseServer.skip }, () => {
  let server: ClickhouseServer
  before(async () => {
    server = await startClickhouse()
  })
  after(() => server.kill())

  for (const [what, answer] of Object.entries(AFTERWARDS)) {
    test(`is of unknown outcome: ${what}`, async () => {
      let isLost = false
      const target = Number(new URL(server.url).port)
      const relay = createServer((client) => {
        client.on('error', () => {})
        if (isLost && answer !== null) {
          const [status, body] = answer
          client.once('data', () => {
            client.end(
              `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
            )
          })
          return
        }
        const upstream = connect(target, '127.0.0.1').on('error', () => {})
        let isInsert = false
        client.on('data', (bytes) => {
          // A request may come in pieces, of which the first one says what it is.
          if (bytes.includes(' HTTP/1.1\r\n'))
            isInsert = bytes.includes('INSERT+INTO') && bytes.includes('points')
          upstream.write(bytes)
        })
        upstream.on('data', (bytes) => {
          if (!isInsert) {
            client.write(bytes)
            return
          }
          isLost = true
          if (answer === null) relay.close()
          for (const socket of sockets) socket.destroy()
        })
        const sockets = [client, upstream]
      })
      await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
      const database = `lost_${Object.keys(AFTERWARDS).indexOf(what)}`
      const direct = await openHistorian({ urls: [server.url], database })
      await direct.putTags([{ name: 'a', metadata: NO_METADATA }], 'create', context)
      const { port } = relay.address() as AddressInfo
      const historian = await openHistorian({ urls: [`http://127.0.0.1:${port}`], database })
      const written = historian.write(writeBatch([{ tag: 'a', points: points([1, 1]) }], false), context)
      await assert.rejects(written, (error) => (error as { code?: string }).code === 'WRITE_OUTCOME_UNKNOWN')
      assert.ok(isLost)
      const [found] = await direct.readRanges([{ tag: 'a', ...EVER, order: 'asc', limit: 9 }], context)
      assertPoints(found!.points, points([1, 1]))
      await historian.close()
      await direct.close()
      relay.close()
    })
  }
})
