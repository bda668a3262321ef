import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { findServer } from '../servers/required.ts'
import { PROJECT } from './run.ts'

const UNIT = join(PROJECT, 'deploy', 'systemd', 'tidemark.service')
const analyze = findServer('systemd-analyze of systemd', 'systemd-analyze')

describe('the unit of systemd', { skip: analyze.skip }, () => {
  it('is parsed, and leaves the service little to do harm with', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tidemark-unit-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const unit = join(folder, 'tidemark.service')
    // The program need not be installed where it is checked.
    writeFileSync(unit, readFileSync(UNIT, 'utf8').replaceAll('/usr/local/bin/tidemark', '/bin/true'))
    const verified = spawnSync(analyze.path!, ['verify', unit], { encoding: 'utf8' })
    assert.doesNotMatch(verified.stderr, /tidemark\.service/, verified.stderr)
    const args = ['security', '--offline=true', '--threshold=25', unit]
    const { status, stdout, stderr } = spawnSync(analyze.path!, args, { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
    const [, exposure] = /Overall exposure level for tidemark\.service: ([\d.]+) OK/.exec(stdout)!
    assert.ok(Number(exposure) <= 2.5)
  })

  it('stops, restarts and starts with the machine as docs/install.md says', () => {
    const text = readFileSync(UNIT, 'utf8')
    // What RestartPreventExitStatus says does not hold for a command before the start: its end is tried again.
    assert.doesNotMatch(text, /^ExecStartPre/m)
    for (const line of [
      'RestartPreventExitStatus=2',
      'KillMode=mixed',
      'StateDirectory=tidemark',
      'RestartSec=5',
      'WantedBy=multi-user.target',
    ])
      assert.match(text, new RegExp(`^${line}$`, 'm'))
  })
})
