import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { runWorker } from './worker.ts'

/** What primary.test.ts has its workers do; the settings are the folder where they leave and find things. */
await runWorker(async (settings, primary) => {
  const folder = settings as unknown as string
  appendFileSync(join(folder, 'pids'), `${process.pid}\n`)
  // As a connection to a server does, this keeps the process from ending by itself.
  const open = setInterval(() => {}, 1e6)
  if (existsSync(join(folder, 'refuse'))) throw new Error('this worker does not start')
  if (existsSync(join(folder, 'read'))) primary.ownerOf('plant').movedOn!(5)
  if (existsSync(join(folder, 'write'))) {
    const { signal } = new AbortController()
    await primary
      .ownerOf('plant')
      .change('write', ['a change'], signal)
      .catch(() => {})
    // What cannot be sent fails the change, and nothing else.
    await primary
      .ownerOf('plant')
      .change('write', [() => {}], signal)
      .catch(({ name }) => appendFileSync(join(folder, 'errors'), name))
  }
  return {
    address: { address: '127.0.0.1', family: 'IPv4', port: 1 },
    historians: [],
    metrics: async () => {
      throw new Error('no metrics')
    },
    stop: async () => clearInterval(open),
  }
})
