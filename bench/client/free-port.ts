import { createServer } from 'node:net'

/** A port of this machine that nobody listens at now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  await new Promise((resolve) => server.close(resolve))
  return port
}
