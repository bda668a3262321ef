import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { historianDirectory, openDataDirectory } from '../../src/storage/directory/data-directory.ts'
import { backupDataDirectory } from '../../src/storage/maintenance/backup.ts'
import { restoreDataDirectory } from '../../src/storage/maintenance/restore.ts'
import { openArchived } from './archive-writer.ts'
import { temporaryFolder } from './folder.ts'
import { assertMoment, changesIn, readModel, type Sent } from './restored.ts'

/** Rounds of kill and restart; more with ARCHIVE_KILL_ROUNDS. */
const ROUNDS = Number(process.env.ARCHIVE_KILL_ROUNDS ?? 9)
const { signal } = new AbortController()

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Writes on in a process of its own, and says in the stream what became of it. */
function startWriter(folder: string, archive: string, stream: Sent[]) {
  const args = [join(import.meta.dirname, 'archive-writer.ts'), folder, archive, String(stream.length + 1)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const [kind, number, us] = line.split(' ')
      if (kind === 'sent') stream.push({ sent: Number(us), acknowledged: Number.POSITIVE_INFINITY })
      else stream[Number(number) - 1]!.acknowledged = Number(us)
    }
  })
  const closed = once(child, 'close')
  return async () => {
    child.kill('SIGKILL')
    await closed
  }
}

async function makeData(t: TestContext) {
  const folder = temporaryFolder(t)
  const [data, archive] = [join(folder, 'data'), join(folder, 'archive')]
  mkdirSync(archive)
  await (await openDataDirectory(data, { owner: true })).close()
  return { folder, data, archive, historian: historianDirectory(data, 'local') }
}

test('whatever a kill of the owner meets, the archive leads from a backup to every moment', async (t) => {
  const { folder, data, archive, historian } = await makeData(t)
  const stream: Sent[] = []
  const moments: { readonly at: number; readonly backup: string }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const kill = startWriter(historian, archive, stream)
    const before = stream.length
    while (stream.length < before + 40) await wait(1)
    const backup = join(folder, `backup-${round}`)
    const acknowledged = stream.filter((one) => Number.isFinite(one.acknowledged)).length
    // The owner dies while it is copied, now and then.
    const backing = backupDataDirectory(data, backup, signal)
    await wait(Math.random() * 30)
    await kill()
    await backing
    const copied = changesIn(await readModel(historianDirectory(backup, 'local')))
    assert.ok(copied >= acknowledged && copied <= stream.length, `${acknowledged} <= ${copied}`)
    moments.push({ at: Date.now() * 1000, backup })
    // What was not acknowledged is there after a start, or is sent again.
    await (await openArchived(historian, archive)).close()
    const there = changesIn(await readModel(historian))
    assert.ok(there >= stream.filter((one) => Number.isFinite(one.acknowledged)).length)
    assert.ok(there <= stream.length)
    stream.length = there
  }
  const archiveOf = () => archive
  const first = moments[0]!.backup
  for (const [index, { at, backup }] of moments.entries()) {
    for (const from of new Set([first, backup])) {
      const target = join(folder, `restored-${index}-${from === first ? 'first' : 'own'}`)
      await restoreDataDirectory(from, target, { to: at, only: null, archiveOf }, signal)
      assertMoment(changesIn(await readModel(historianDirectory(target, 'local'))), stream, at)
    }
  }
  const all = join(folder, 'all')
  await restoreDataDirectory(first, all, { to: null, only: null, archiveOf }, signal)
  assert.equal(changesIn(await readModel(historianDirectory(all, 'local'))), stream.length)
  t.diagnostic(`${ROUNDS} kills, ${stream.length} changes`)
})
