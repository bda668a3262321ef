import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { decodeMark } from '../../src/storage/archive/archive-file.ts'
import { formatInstant } from '../../src/time/format.ts'
import { instantFromUs } from '../../src/time/instant.ts'
import { parseTimeZone } from '../../src/time/zone.ts'
import { type RunningService, serve, temporaryFolder, tidemark } from '../cli/run.ts'
import { assertMoment, type Change, changeNumber, changesIn, readModel, type Sent } from './restored.ts'

const nowUs = () => Date.now() * 1000

/** The call that makes a change. */
function callOf(change: Change): readonly [string, object] {
  if (change.kind === 'delete') {
    const from = change.time / 1000
    return ['/historian/delete/points', { ranges: { [`local/${change.tag}`]: [{ from, to: from + 1 }] } }]
  }
  const entries = Object.entries(change.points).map(([tag, { time, value }]) => [
    `local/${tag}`,
    [{ timestamp: time / 1000, value }],
  ])
  return ['/historian/write/points', { createTags: true, points: Object.fromEntries(entries) }]
}

/** Writes the stream to a service until it is told to end. */
function startWriting(service: RunningService, stream: Sent[]) {
  let isEnding = false
  const writing = (async () => {
    while (!isEnding) {
      const [path, body] = callOf(changeNumber(stream.length + 1))
      const one = { sent: nowUs(), acknowledged: Number.POSITIVE_INFINITY }
      stream.push(one)
      const answer = await service.post(path, body, service.writeKey)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      one.acknowledged = nowUs()
      await wait(2)
    }
  })()
  return async () => {
    isEnding = true
    await writing
  }
}

/** Folder of the one historian in an archive. */
function archivedIn(archive: string): string {
  const ids = readdirSync(join(archive, 'local'))
  assert.equal(ids.length, 1)
  return join(archive, 'local', ids[0]!)
}

function markOf(archive: string) {
  const path = join(archivedIn(archive), 'archived-until')
  return existsSync(path) ? decodeMark(readFileSync(path)) : null
}

test('a service that writes on is restored to any moment after a backup, and to no other', async () => {
  const cwd = await temporaryFolder()
  const archive = join(cwd, 'archive')
  mkdirSync(archive)
  const config = join(cwd, 'plant.yaml')
  writeFileSync(config, `historians: {local: {type: embedded, archive: ${archive}, archiveSeconds: 1}}\n`)
  const service = await serve(['--config', config], { cwd })
  const stream: Sent[] = []
  const stopWriting = startWriting(service, stream)
  while (stream.length < 50) await wait(10)
  const beforeAll = nowUs()
  const first = await tidemark(['backup', 'first', '--config', config], { cwd })
  assert.equal(first.code, 0, first.stderr)
  const moments: number[] = []
  for (let i = 0; i < 3; i++) {
    await wait(700)
    moments.push(nowUs())
  }
  const second = await tidemark(['backup', 'second', '--since', 'first', '--config', config], { cwd })
  assert.equal(second.code, 0, second.stderr)
  await wait(300)
  moments.push(nowUs())
  while ((markOf(archive)?.until ?? 0) <= moments.at(-1)!) await wait(50)
  await stopWriting()
  await service.kill()

  let made = 0
  const restore = async (backup: string, args: readonly string[], code = 0) => {
    const target = `restored-${++made}`
    const outcome = await tidemark(['restore', backup, target, '--config', config, ...args], { cwd })
    assert.equal(outcome.code, code, outcome.stdout + outcome.stderr)
    return { ...outcome, target: join(cwd, target), historian: join(cwd, target, 'historians', 'local') }
  }
  const iso = (us: number) => formatInstant(instantFromUs(us), parseTimeZone('UTC')!)
  for (const [backup, moment] of [
    ['first', moments[0]!],
    ['first', moments[1]!],
    ['first', moments[3]!],
    ['second', moments[3]!],
  ] as const) {
    const { historian, stdout } = await restore(backup, ['--to', iso(moment)])
    assertMoment(changesIn(await readModel(historian)), stream, moment)
    assert.match(stdout, /^checked: good$/m)
  }
  // A time without a zone is one of --zone.
  const second2 = Math.floor(moments[2]! / 1e6) * 1e6
  const local = formatInstant(instantFromUs(second2), parseTimeZone('Asia/Kolkata')!).slice(0, 19)
  const zoned = await restore('first', ['--to', local, '--zone', 'Asia/Kolkata', '--archive', archive])
  assertMoment(changesIn(await readModel(zoned.historian)), stream, second2)
  // All that is archived.
  const all = await restore('first', [])
  const until = markOf(archive)!
  const writes = changesIn(await readModel(all.historian))
  assert.ok(writes >= stream.filter(({ acknowledged }) => acknowledged <= until.until).length)

  const early = await restore('first', ['--to', iso(beforeAll)], 1)
  assert.match(
    early.stderr,
    /Historian local cannot be restored: the backup was made at \S+: take an earlier one/,
  )
  const late = await restore('first', ['--to', iso(nowUs() + 1e6)], 1)
  assert.match(
    late.stderr,
    /cannot be restored: the archive ends at \S+: choose a moment until then, or leave it out/,
  )
  assert.ok(!existsSync(join(late.target, 'system')))
  const unread = await restore('first', ['--to', 'once upon a time'], 2)
  assert.match(unread.stderr, /^Cannot parse type once upon a time as time input for --to: /m)
  const other = await restore('first', ['--historian', 'none'], 1)
  assert.match(other.stderr, /Historian none cannot be restored: it is not in the backup/)
  const nowhere = await restore('first', ['--archive', join(cwd, 'first')], 1)
  assert.match(nowhere.stderr, /nothing that came after the backup is archived in/)

  // What is restored is served, and archived beside what was there.
  const again = await serve(['--config', config, '--data-dir', all.target], { cwd })
  const answer = await again.post(
    '/historian/write/points',
    { points: { 'local/A': [{ timestamp: 1, value: -1 }] } },
    service.writeKey,
  )
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(await again.stop(), 0)
  assert.equal(readdirSync(join(archive, 'local')).length, 2)
  const served = await restore(all.target, [], 1)
  assert.match(served.stderr, /it was served since the backup was made, or its folder is no backup/)
})
