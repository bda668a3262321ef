import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../until.ts'
import { acceptedWrite } from './accepted-write.ts'
import { findOlderNode, PROJECT, serve, temporaryFolder } from './run.ts'

const LINUX = process.platform !== 'linux' && 'signals process groups'

describe('a stop', async () => {
  const cwd = await temporaryFolder()
  const older = findOlderNode()

  for (const [title, node, args, skip] of [
    ['of one process', process.execPath, [], LINUX],
    ['of several processes', process.execPath, ['--workers', '2'], LINUX],
    [
      'of a launcher by an older Node, too',
      older ?? '',
      [],
      LINUX || (older === null && 'no older Node is installed'),
    ],
  ] as const) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      it(`by ${signal} to the process group ${title} answers what was accepted`, { skip }, async () => {
        const service = await serve([...args, '--data-dir', `${title} ${signal}`], {
          cwd,
          node,
          ownGroup: true,
        })
        const call = await acceptedWrite(service)
        // As a terminal does with Ctrl-C, and systemd with the processes of a unit: all of them, at the same time.
        process.kill(-service.pid, signal)
        await until(() => service.stdout().includes('Finishing what was accepted'), 'the stop has begun')
        await wait(700)
        assert.match(await call.finish(), /HTTP\/1\.1 200 .*All points written!/s)
        assert.equal(await service.ended, 0)
        assert.match(service.stdout(), /Stopped\.\n$/)
      })
    }
  }

  it('is one although two signals come, and a third one later ends the service at once', {
    skip: LINUX,
  }, async () => {
    const service = await serve(['--data-dir', 'twice'], { cwd })
    await acceptedWrite(service)
    process.kill(service.pid, 'SIGTERM')
    process.kill(service.pid, 'SIGINT')
    await until(() => service.stdout().includes('Finishing what was accepted'), 'the stop has begun')
    await wait(600)
    process.kill(service.pid, 'SIGTERM')
    assert.equal(await service.ended, 130)
  })

  it('is done although the same signal is handed on while the process ends', { skip: LINUX }, async () => {
    const service = await serve(['--data-dir', 'late'], { cwd })
    process.kill(service.pid, 'SIGTERM')
    await until(() => service.stdout().includes('Stopped.'), 'the service has stopped')
    let isRunning = true
    void service.ended.then(() => {
      isRunning = false
    })
    while (isRunning) {
      try {
        process.kill(service.pid, 'SIGTERM')
      } catch {
        // gone meanwhile
      }
      await new Promise(setImmediate)
    }
    assert.equal(await service.ended, 0)
  })

  it('by Ctrl-C at a terminal finishes, below an older Node, too', {
    skip: LINUX || (!existsSync('/usr/bin/script') && 'script is not installed'),
  }, async (t) => {
    for (const node of [process.execPath, ...(older === null ? [] : [older])]) {
      // A shell that stays above the service would end by the same Ctrl-C, and its end is what script tells: dash stays
      // unless it is told to become the command, bash does so by itself. script takes the shell of SHELL.
      const command = `exec '${node}' '${PROJECT}/bin/tidemark.js' serve --port 0 --data-dir terminal`
      const terminal = spawn('/usr/bin/script', ['-qefc', command, '/dev/null'], {
        cwd,
        env: { ...process.env, SHELL: '/bin/sh' },
        stdio: 'pipe',
      })
      t.after(() => terminal.kill())
      let output = ''
      terminal.stdout.on('data', (text) => {
        output += text
      })
      const closed = once(terminal, 'close')
      await until(() => /reference +\S+\r?\n/.test(output), 'it answers')
      terminal.stdin.write('\x03')
      assert.deepEqual(await closed, [0, null], output)
      assert.match(output, /Finishing what was accepted.*Stopped\./s)
    }
  })
})
