import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { TidemarkHistorian } from '../../../src/drivers/tidemark/driver.ts'
import type { CallContext, Historian } from '../../../src/historian/contract.ts'
import { HistorianRegistry } from '../../../src/historian/registry.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { runMulti } from '../../../src/multi/run.ts'
import { instantFromUs } from '../../../src/time/instant.ts'
import { UTC } from '../../../src/time/zone.ts'
import { tidemark as commandLine } from '../../cli/run.ts'
import { MemoryHistorian } from '../../contract/memory-historian.ts'
import { EVER, points, ramp } from '../../contract/points.ts'
import { LIMITS } from '../../multi-harness.ts'
import { until } from '../../until.ts'
import { fakeInstance } from './fake-instance.ts'
import { configFor, connect, startUpstream } from './upstream.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
type Json = any

const context: CallContext = { signal: new AbortController().signal }
const settings = 'limits: {requestedPoints: 500, effectiveTags: 3, historianLoad: 2000, aggregateWindows: 50}'
const upstream = await startUpstream('plant', settings)
const opened: TidemarkHistorian[] = []
after(async () => {
  for (const historian of opened) await historian.close()
})

async function open(...options: Parameters<typeof connect>) {
  const connected = await connect(...options)
  opened.push(connected.historian)
  return connected
}

async function multi(historians: readonly Historian[], requests: object): Promise<Json> {
  const answer = await runMulti(
    { requests },
    {
      historians: new HistorianRegistry(historians),
      limits: LIMITS,
      defaultZone: UTC,
      defaultHistorian: null,
      now: instantFromUs(2e15),
      signal: context.signal,
    },
  )
  return JSON.parse(Buffer.concat([...answer.chunks()]).toString())
}

test('limits of the other instance are errors of its labels, with the name of the historian and of the limit', async () => {
  const { historian } = await open(configFor(upstream, 'plant'))
  const local = new MemoryHistorian('local')
  const tags = Array.from({ length: 5 }, (_, index) => `T${index}`)
  const entries = tags.map((tag) => ({ tag, points: ramp(1_300, 0, 1_000_000) }))
  for (const each of [historian, local]) await each.write(writeBatch(entries, true), context)
  const current = (tag: string) => ({ type: 'CURRENT_POINT', tag })
  const five = await multi([historian, local], {
    ...Object.fromEntries(tags.map((tag) => [tag, current(`site/${tag}`)])),
    mine: current('local/T0'),
  })
  const said =
    'Historian site has a limit of its own: The effective tags limit is 3, and this call needs 5 tags'
  assert.deepEqual({ ...five.errors }, Object.fromEntries(tags.map((tag) => [tag, said])))
  assert.equal(five.issues[0].code, 'HISTORIAN_LIMIT')
  assert.equal(five.results.mine.dataPoint.value, 1_299)

  const range = { from: 0, to: 1_300 }
  const { errors, results, next } = await multi([historian], {
    grid: { type: 'INTERPOLATED_POINTS', tag: 'site/T0', details: { ...range, count: 600 } },
    windows: { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'site/T0', details: { ...range, count: 60 } },
    raw: { type: 'RAW_POINTS', tag: 'site/T0', details: { ...range, maxPoints: 2_000 } },
  })
  assert.equal(
    errors.grid,
    'Historian site has a limit of its own: The requested points limit is 500, and this call requests 600 points',
  )
  assert.equal(
    errors.windows,
    'Historian site has a limit of its own: The aggregate windows limit is 50, and this call asks for 60 windows',
  )
  // Raw points come by pages that the other instance allows.
  assert.equal(results.raw.dataPoints.length, 1_300)
  assert.equal(next, undefined)
})

test('points that are deleted are counted for each range, also of more tags than the other instance reads in a call', async () => {
  const { historian } = await open(configFor(upstream, 'plant'))
  const tags = Array.from({ length: 8 }, (_, index) => `DELETED${index}`)
  const entries = tags.map((tag) => ({ tag, points: ramp(100, 0, 1_000_000) }))
  await historian.write(writeBatch(entries, true), context)
  const seconds = (tag: string, from: number, to: number) => ({
    tag,
    from: instantFromUs(from * 1_000_000),
    to: instantFromUs(to * 1_000_000),
  })
  const ranges = tags.flatMap((tag, i) => [seconds(tag, 0, 10 + i), seconds(tag, 50, 90)])
  const counts = tags.flatMap((_, i) => [10 + i, 40])
  assert.deepEqual(await historian.deletePoints(ranges, true, context), counts)
  assert.deepEqual(await historian.deletePoints(ranges, false, context), counts)
  assert.deepEqual(await historian.deletePoints(ranges, false, context), Array(16).fill(0))
})

test('a chart beyond a limit of the other instance is interpolated where the details say so', async () => {
  const { historian } = await open(configFor(upstream, 'plant'))
  await historian.write(writeBatch([{ tag: 'CHART', points: ramp(1_300, 0, 1_000_000) }], true), context)
  const details = { from: 0, to: 1_299, width: 150 }
  const { results, errors } = await multi([historian], {
    strict: { type: 'PLOT', tag: 'site/CHART', details },
    fallen: { type: 'PLOT', tag: 'site/CHART', details: { ...details, fallback: 'interpolated' } },
  })
  assert.equal(
    errors.strict,
    'Historian site has a limit of its own: The requested points limit is 500, and this call requests 603 points',
  )
  assert.equal(results.fallen.sampled, 'interpolated')
  assert.equal(results.fallen.dataPoints.length, 150)
  assert.equal(results.fallen.dataPoints[75].value, Math.round((1_299_000_000 / 149) * 75) / 1e6)
})

test('every acknowledged point is there after the other instance was killed amid writes', async () => {
  const { historian } = await open(configFor(upstream, 'plant'))
  const acknowledged: number[] = []
  const failed = new Map<number, unknown>()
  let restarted: Promise<void> | null = null
  const writer = async (first: number) => {
    for (let i = first; i < 400; i += 4) {
      try {
        await historian.write(writeBatch([{ tag: 'STREAM', points: points([i * 1_000, i]) }], true), context)
        acknowledged.push(i)
      } catch (error) {
        failed.set(i, error)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      if (acknowledged.length >= 100 && restarted === null) {
        restarted = upstream.service.kill().then(() => upstream.restart())
      }
    }
  }
  await Promise.all([0, 1, 2, 3].map(writer))
  await restarted
  // The connection is made again without anybody's help.
  await historian.write(writeBatch([{ tag: 'STREAM', points: points([400_000, 400]) }], true), context)
  acknowledged.push(400)
  const [read] = await historian.readRanges(
    [{ tag: 'STREAM', ...EVER, order: 'asc', limit: 10_000 }],
    context,
  )
  const there = new Set(read!.points.values)
  assert.deepEqual(
    acknowledged.filter((value) => !there.has(value)),
    [],
    'acknowledged and lost',
  )
  assert.ok(failed.size > 0, 'the kill was noticed')
  for (const [value, error] of failed) {
    const { code } = error as { code?: string }
    assert.ok(code === 'WRITE_OUTCOME_UNKNOWN' || code === 'HISTORIAN_UNAVAILABLE', String(error))
    // What was surely not sent is surely not there.
    if (code === 'HISTORIAN_UNAVAILABLE') assert.ok(!there.has(value), `${value}: ${error}`)
  }
})

test('a wrong key, a revoked one and a historian that is not there are told apart', async () => {
  const health = async (config: Parameters<typeof connect>[0]) => {
    const { historian } = await open(config, 'site', false)
    return historian.checkHealth(context)
  }
  const refused = 'Historian site could not be reached: it refused the credentials of the setting key'
  await assert.rejects(health(configFor(upstream, 'plant', { secret: 'tdm_wrong' })), { message: refused })
  await assert.rejects(health(configFor(upstream, 'nowhere')), {
    message:
      'Historian site could not be reached: there is no such historian in the instance that it refers to, or the key for it may not see it',
  })
  await assert.rejects(health({ ...configFor(upstream, 'plant'), key: { env: 'TIDEMARK_TEST_NOT_SET' } }), {
    message:
      'Historian site could not be reached: the environment variable TIDEMARK_TEST_NOT_SET with its credentials is not set',
  })

  const keys = (...args: string[]) => commandLine(['keys', ...args], { cwd: upstream.folder })
  const made = await keys('create', '--name', 'for-site', '--scope', 'write')
  const secret = /tdm_\S+/.exec(made.stdout)?.[0]
  assert.ok(secret !== undefined, made.stdout + made.stderr)
  const { historian } = await open(configFor(upstream, 'plant', { secret }))
  const revoked = await keys('revoke', 'for-site')
  assert.equal(revoked.code, 0, revoked.stderr)
  // Within a second: another process believes it for a quarter of one.
  const failure = () =>
    historian.checkHealth(context).then(
      () => null,
      ({ message }: Error) => message,
    )
  assert.equal(await until(failure, 'the revoked key is refused'), refused)
})

test('a key that may only read, and a historian that is configured so, are not writable', async () => {
  const batch = writeBatch([{ tag: 'X', points: points([1, 1]) }], true)
  const { historian: reader } = await open(configFor(upstream, 'plant', { secret: upstream.readKey }))
  assert.equal(reader.capabilities.write, false)
  await assert.rejects(reader.write(batch, context), {
    code: 'NOT_SUPPORTED',
    message: 'Historian site cannot be changed: the key for it may only read',
  })
  const { historian: quiet } = await open(configFor(upstream, 'plant', { writable: false }))
  assert.equal(quiet.capabilities.write, false)
  await assert.rejects(quiet.write(batch, context), {
    code: 'NOT_SUPPORTED',
    message: 'Historian site cannot be changed: it is configured read-only',
  })
  const { historian: writer } = await open(configFor(upstream, 'plant'))
  const { write, durability, atomicWrites } = writer.capabilities
  assert.deepEqual(
    { write, durability, atomicWrites },
    { write: true, durability: 'fsync', atomicWrites: 'request' },
  )
})

test('an instance that does not answer in time fails its own labels, by name, and not those of others', async () => {
  const { service } = await fakeInstance(() => new Promise<null>(() => {}))
  const config = configFor({ service: service as never, writeKey: 'key' }, 'plant', { timeoutSeconds: 0.3 })
  const { historian } = await open(config, 'slow', false)
  const local = new MemoryHistorian('local')
  await local.write(writeBatch([{ tag: 'T', points: points([1, 7]) }], true), context)
  const { results, errors } = await multi([historian, local], {
    slow: { type: 'CURRENT_POINT', tag: 'slow/T' },
    both: { type: 'CURRENT_POINT', tag: 'calc/ADD(slow/T, local/T)' },
    own: { type: 'CURRENT_POINT', tag: 'local/T' },
  })
  const sentence = 'Historian slow could not be reached: no answer within 0.3 seconds'
  assert.deepEqual({ ...errors }, { slow: sentence, both: sentence })
  assert.equal(results.own.dataPoint.value, 7)
})

test('a call that is cancelled here is cancelled there', async () => {
  const { historian } = await open(configFor(upstream, 'plant'))
  await historian.write(writeBatch([{ tag: 'LONG', points: ramp(1_000, 0, 1_000) }], true), context)
  const cut = async () => {
    const answer = await fetch(`${upstream.service.url}/metrics`)
    const counted =
      /tidemark_http_requests_total\{route="\/historian\/multi",method="POST",status="499"\} (\d+)/
    return Number(counted.exec(await answer.text())?.[1] ?? 0)
  }
  const before = await cut()
  // Many labels take a while to be parsed there; it yields to the event loop meanwhile, and sees that nobody waits.
  const ranges = Array.from({ length: 500 }, (_, index) => ({
    tag: 'LONG',
    from: instantFromUs(index),
    to: instantFromUs(1_000_000),
  }))
  let tries = 0
  const abortOnce = async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const reading = historian.estimatePoints(ranges, 1_000_000, { signal: controller.signal })
    // Sooner and later, since how long it takes there is not known.
    const timer = setTimeout(() => controller.abort(reason), tries++ % 200)
    await reading.catch((error: unknown) => assert.equal(error, reason))
    clearTimeout(timer)
    return (await cut()) > before
  }
  await until(abortOnce, 'the other instance sees that nobody waits', 0)
})
