import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findServer, freePort, serverFolder, startServer } from './required.ts'

describe('a server of the machine', () => {
  test('is found by the first name that can be run', () => {
    const { path, skip } = findServer('Node', 'no-such-program', process.execPath)
    assert.deepEqual({ path, skip }, { path: process.execPath, skip: false })
  })

  test('is looked for by a pattern, too', () => {
    const pattern = join(process.execPath, '..', '*od*')
    assert.notEqual(findServer('Node', pattern).path, null)
  })

  test('that is missing is a reason to skip, and an error where servers are required', () => {
    const before = process.env.TIDEMARK_SERVERS
    try {
      delete process.env.TIDEMARK_SERVERS
      const { path, skip } = findServer('Oracle', 'no-such-program', '/no/such/*/program')
      assert.equal(path, null)
      assert.equal(skip, 'Oracle is not installed (no-such-program or /no/such/*/program was looked for)')
      process.env.TIDEMARK_SERVERS = 'required'
      assert.throws(
        () => findServer('Oracle', 'no-such-program'),
        /Oracle is not installed .*TIDEMARK_SERVERS=required/,
      )
    } finally {
      if (before === undefined) delete process.env.TIDEMARK_SERVERS
      else process.env.TIDEMARK_SERVERS = before
    }
  })
})

describe('a server that is started', () => {
  const listenAt = (port: number) =>
    `require('net').createServer((s) => s.end('hello')).listen(${port}, '127.0.0.1')`

  test('is waited for until it answers, and is gone when killed', async () => {
    const port = await freePort()
    const canConnect = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1')
        socket.on('data', () => resolve(true)).on('error', () => resolve(false))
      })
    const server = await startServer({
      command: process.execPath,
      args: ['-e', `console.log('ready'); ${listenAt(port)}`],
      probe: canConnect,
    })
    assert.match(server.output(), /ready/)
    assert.equal(await canConnect(), true)
    await server.kill()
    assert.equal(await canConnect(), false)
    await server.stop()
  })

  test('that ends, or cannot be run at all, is an error with what it wrote', async () => {
    const probe = async () => false
    await assert.rejects(
      startServer({
        command: process.execPath,
        args: ['-e', 'console.error("no space"); process.exit(3)'],
        probe,
      }),
      /ended \(3\):\nno space/,
    )
    await assert.rejects(startServer({ command: '/no/such/program', args: [], probe }), /ENOENT/)
  })

  test('that never answers is ended', async () => {
    const never = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], seconds: 0.2 }
    await assert.rejects(startServer({ ...never, probe: async () => false }), /does not answer after 0\.2 s/)
  })
})

test('a port that is given out is free, and a folder is there', async () => {
  const port = await freePort()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await new Promise((resolve) => server.close(resolve))
  assert.ok(existsSync(serverFolder('example')))
})
