import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Settings } from '../config/settings.ts'
import { listenAt } from './listen.ts'

/**
 * The settings with a port of their own where they leave it to the system (0). Workers that are all gone at a time lose
 * what they shared, so that the next one would get another port than the one that was told.
 * Rejects as listening there does.
 */
export async function withChosenPort(settings: Settings): Promise<Settings> {
  const { host, port } = settings.server
  if (port !== 0) return settings
  const server = createServer()
  await listenAt({ listen: (at) => once(server.listen(at), 'listening') }, { host, port })
  const { port: chosen } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { ...settings, server: { ...settings.server, port: chosen } }
}
