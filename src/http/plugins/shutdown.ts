import type { FastifyInstance } from 'fastify'
import type { Connections } from '../connections.ts'
import type { Services } from '../services.ts'
import type { WorkInHand } from '../work.ts'

/** How long calls whose clients are gone may take to notice before their historians are closed all the same. */
const LEFTOVER_MS = 2_000

/**
 * The end of the service, on `app.close()`: no new connections, the accepted calls are answered within
 * `server.shutdownSeconds`, each connection closes with its last answer, and then the historians are closed.
 */
export function addShutdown(
  app: FastifyInstance,
  services: Services,
  connections: Connections,
  work: WorkInHand,
): void {
  app.addHook('preClose', async () => connections.close(services.settings.server.shutdownSeconds))

  app.addHook('onSend', (request, reply, payload, done) => {
    // Fastify says `close` after any body error and on every request that comes during a shutdown. Said too early it
    // would cut off the answers to requests that were pipelined behind this one, or a body that is still coming.
    if (connections.closing && connections.isLast(request.raw)) reply.header('connection', 'close')
    else if (reply.hasHeader('connection')) reply.removeHeader('connection')
    done(null, payload)
  })

  // Runs when the server has no connection left: Fastify closes it before it runs these.
  app.addHook('onClose', async () => {
    connections.closed()
    await within(LEFTOVER_MS, work.idle())
    for (const historian of services.historians.list()) {
      try {
        await historian.close()
      } catch (error) {
        services.log.error({ err: error, historian: historian.name }, 'a historian could not be closed')
      }
    }
  })
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, promise])
  clearTimeout(timer)
}
