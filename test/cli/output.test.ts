import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { mountQuota, noQuota } from '../durability/quota-mount.ts'
import { fillDisk } from '../durability/small-disk-mount.ts'
import { until } from '../until.ts'
import { acceptedWrite } from './accepted-write.ts'
import { BIN, serve, temporaryFolder, tidemark } from './run.ts'

const SKIP = process.platform !== 'linux' && 'writes to /dev/full'

describe('an output that cannot be written', { skip: SKIP }, async () => {
  const cwd = await temporaryFolder()
  const rows = Array.from({ length: 50_000 }, (_, i) => `local/A,${new Date(i * 1000).toISOString()},${i}`)
  await writeFile(join(cwd, 'data.csv'), `tag,timestamp,value\n${rows.join('\n')}\n`)
  assert.equal((await tidemark(['import', 'data.csv'], { cwd })).code, 0)

  /** Runs a command line by a shell, which redirects its output; the status is that of the command. */
  const shell = (args: string, redirection: string) => {
    const command = `"$0" "$1" ${args} ${redirection}; exit \${PIPESTATUS[0]}`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', command, process.execPath, BIN], {
      cwd,
      encoding: 'utf8',
    })
    return { code: status, stdout, stderr }
  }

  it('as its reader closed the pipe is the quiet end of a command', () => {
    const query = "query local/A --from 1970-01-01 --to '1970-01-01 10:00' --csv --max-points 50000"
    for (const args of [query, 'export', 'tags list', '--help']) {
      const { code, stderr } = shell(args, '| true')
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, args)
    }
    assert.deepEqual(shell('export --zone UTC', '| head -1'), {
      code: 0,
      stdout: 'tag,timestamp,value,status\n',
      stderr: '',
    })
  })

  it('as the disk is full is one sentence with exit code 1', () => {
    const sentence = 'The output could not be written: there is no space left on the device\n'
    for (const args of ['tags list', 'export', '--help']) {
      assert.deepEqual(shell(args, '> /dev/full'), { code: 1, stdout: '', stderr: sentence }, args)
    }
    assert.equal(shell('tags list', '> /dev/full 2>&1').code, 1)
    const { code, stderr } = shell('export --output /dev/full', '')
    assert.deepEqual({ code, stderr }, { code: 1, stderr: 'There is no space left on the device\n' })
  })

  it('as a quota is used up says so', { skip: noQuota }, async (t) => {
    const output = join(mountQuota(t, 16), 'output')
    await writeFile(output, '')
    fillDisk(join(output, '..', 'filler'))
    const { code, stderr } = shell('export', `>> '${output}'`)
    const sentence = 'The output could not be written: the disk quota is used up\n'
    assert.deepEqual({ code, stderr }, { code: 1, stderr: sentence })
  })

  it('does not change how a command ends that prints nothing there', () => {
    const { code, stderr } = shell('tags show local/B', '> /dev/full')
    assert.equal(code, 1)
    assert.match(stderr, /^Tag local\/B does not exist/)
    assert.equal(shell('tags show local/B', '2> /dev/full').code, 1)
  })

  for (const workers of ['1', '2']) {
    it(`lets a service with ${workers} processes finish what it accepted`, async () => {
      const service = await serve(['--data-dir', `closed ${workers}`, '--workers', workers], { cwd })
      service.closeOutput()
      const call = await acceptedWrite(service)
      process.kill(service.pid, 'SIGTERM')
      await new Promise((resolve) => setTimeout(resolve, 700))
      assert.match(await call.finish(), /HTTP\/1\.1 200 .*All points written!/s)
      assert.equal(await service.ended, 0, service.stderr())
    })
  }

  it('lets a service start and stop', async (t) => {
    const command = 'exec "$0" "$1" serve --port 0 --data-dir full > /dev/full'
    const service = spawn('bash', ['-c', command, process.execPath, BIN], { cwd, stdio: 'pipe' })
    t.after(() => service.kill('SIGKILL'))
    const closed = once(service, 'close')
    let log = ''
    service.stderr.setEncoding('utf8').on('data', (text) => {
      log += text
    })
    await until(() => /listening at/i.test(log), 'it listens')
    service.kill('SIGTERM')
    assert.deepEqual(await closed, [0, null], log)
  })
})
