import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { until } from '../until.ts'
import { type RunningService, serve, temporaryFolder, tidemark } from './run.ts'

const DAY_MS = 86_400_000
const CONFIG = 'historians: {local: {type: embedded, retention: [{match: "short.*", keep: 30d}]}}'

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()
const point = (days: number, value: number) => ({ timestamp: daysAgo(days), value })

const write = (service: RunningService, points: object) =>
  service.post('/historian/write/points', { createTags: true, points })

const valuesOf = async (service: RunningService, tag: string) => {
  const details = { from: daysAgo(1_000), to: 'now' }
  const { body } = await service.post('/historian/multi', {
    requests: { a: { type: 'RAW_POINTS', tag, details } },
  })
  assert.deepEqual(body.errors, {})
  const { a } = body.results as { a: { dataPoints: readonly { value: number }[] } }
  return a.dataPoints.map(({ value }) => value)
}

describe('retention', () => {
  it('removes what is there already when it is configured, and stays when the service is started without it', async () => {
    const cwd = await temporaryFolder()
    const first = await serve([], { cwd })
    const service = { ...first }
    const points = [point(90, 1), point(60, 2), point(10, 3)]
    assert.equal((await write(service, { 'local/short.a': points, 'local/long': points })).status, 200)
    await first.stop()

    await writeFile(join(cwd, 'tidemark.yaml'), CONFIG)
    const second = await serve([], { cwd })
    const read = { ...second, post: (path: string, body: unknown) => second.post(path, body, first.writeKey) }
    await until(async () => (await valuesOf(read, 'local/short.a')).length === 2, 'the watermark is there')
    assert.deepEqual(await valuesOf(read, 'local/short.a'), [2, 3], 'the newest before it stays')
    assert.deepEqual(await valuesOf(read, 'local/long'), [1, 2, 3])
    await second.kill()

    await writeFile(join(cwd, 'tidemark.yaml'), 'historians: {local: {type: embedded}}')
    const third = await serve([], { cwd })
    const last = { ...third, post: (path: string, body: unknown) => third.post(path, body, first.writeKey) }
    assert.deepEqual(await valuesOf(last, 'local/short.a'), [2, 3])
    assert.equal((await write(last, { 'local/short.a': [point(80, 9)] })).status, 200)
    await third.stop()
  })

  it('says what would go before it is configured, beside the service, and that much goes then', async () => {
    const cwd = await temporaryFolder()
    const first = await serve([], { cwd })
    const points = [point(90, 1), point(60, 2), point(40, 2), point(10, 3)]
    await write(first, { 'local/short.a': points, 'local/short.b': points, 'local/long': points })
    await writeFile(join(cwd, 'new.yaml'), CONFIG)
    const preview = await tidemark(['retention', '--config', 'new.yaml'], { cwd })
    assert.equal(preview.code, 0, preview.stderr)
    assert.match(
      preview.stdout,
      /^historian +match +up to +tags +points +bytes \(about\)\nlocal +short\.\* +\S+ +2 +4 +/,
    )
    assert.match(preview.stdout, /1 tag has no rule\.\n$/)
    assert.deepEqual(await valuesOf(first, 'local/short.a'), [1, 2, 2, 3], 'nothing has changed')
    const without = await tidemark(['retention'], { cwd })
    assert.equal(without.stdout, 'No embedded historian has rules of retention\n')
    await first.stop()

    await writeFile(join(cwd, 'tidemark.yaml'), CONFIG)
    const second = await serve([], { cwd })
    const read = { ...second, post: (path: string, body: unknown) => second.post(path, body, first.writeKey) }
    await until(async () => (await valuesOf(read, 'local/short.a')).length === 2, 'the watermark is there')
    const unknown = await tidemark(['retention', '--historian', 'plant'], { cwd })
    assert.equal(unknown.code, 2)
    assert.match(unknown.stderr, /--historian: plant is not configured: one of .*local.* is expected/)
    const after = await tidemark(['retention', '--json', '--historian', 'local'], { cwd })
    const { historians } = JSON.parse(after.stdout)
    assert.deepEqual([historians[0].rules[0].tags, historians[0].rules[0].points], [2, 0])
    await second.stop()
  })

  it('has an import count the points that are too old, and end as done in part, through a service and in place', async () => {
    const cwd = await temporaryFolder()
    await writeFile(join(cwd, 'tidemark.yaml'), CONFIG)
    const csv = ['time,short.a,long', ...[60, 50, 10].map((days) => `${daysAgo(days)},1,2`)].join('\n')
    await writeFile(join(cwd, 'data.csv'), csv)
    const service = await serve([], { cwd })
    await until(
      async () => (await write(service, { 'local/short.b': [point(90, 1)] })).status === 400,
      'an old point is refused',
    )
    const told = /^Imported 4 points of 2 tags in 3 rows/
    const leftOut = /^2 points left out: their tags keep none that are as old \(retention\)$/m
    const key = { TIDEMARK_KEY: service.writeKey }
    const through = await tidemark(['import', 'data.csv', '--url', service.url], { cwd, env: key })
    assert.equal(through.code, 3, through.stderr)
    assert.match(through.stdout, told)
    assert.match(through.stderr, leftOut)
    await service.stop()
    const inPlace = await tidemark(['import', 'data.csv'], { cwd })
    assert.equal(inPlace.code, 3, inPlace.stderr)
    assert.match(inPlace.stdout, told)
    assert.match(inPlace.stderr, leftOut)
  })

  it('of another instance is a write that was taken in part, with the reason', async () => {
    const [there, here] = [await temporaryFolder(), await temporaryFolder()]
    await writeFile(join(there, 'tidemark.yaml'), CONFIG)
    const headquarters = await serve([], { cwd: there })
    await until(
      async () => (await write(headquarters, { 'local/short.b': [point(90, 1)] })).status === 400,
      'an old point is refused',
    )
    const hq = `hq: {type: tidemark, url: '${headquarters.url}', historian: local, key: {env: HQ_KEY}, writable: true}`
    await writeFile(join(here, 'tidemark.yaml'), `historians: {${hq}}`)
    const site = await serve([], { cwd: here, env: { HQ_KEY: headquarters.writeKey } })
    const { status, body } = await write(site, { 'hq/short.a': [point(60, 1), point(10, 2)] })
    assert.equal(status, 503)
    const [issue] = body.issues as readonly { code: string; message: string }[]
    assert.equal(issue!.code, 'WRITE_PARTIAL')
    assert.match(issue!.message, /Point of tag local\/short\.a at \S+ is too old/)
    assert.deepEqual(await valuesOf(headquarters, 'local/short.a'), [2])
    await site.stop()
    await headquarters.stop()
  })

  it('names the points that are too old and takes all others, through any worker', async () => {
    const cwd = await temporaryFolder()
    await writeFile(join(cwd, 'tidemark.yaml'), CONFIG)
    const service = await serve(['--workers', '2'], { cwd })
    // The watermark is there when the first old point is refused.
    await until(
      async () => (await write(service, { 'local/short.b': [point(90, 1)] })).status === 400,
      'an old point is refused',
    )
    for (let i = 0; i < 4; i++) {
      const { status, body } = await write(service, {
        'local/long': [point(90, 5)],
        'local/short.a': [point(10, 3), point(60, 2), point(40, 2)],
      })
      assert.equal(status, 400)
      assert.equal(body.message, 'All points written, but for those that are too old')
      assert.equal(body.tooOld, 2)
      const issues = body.issues as readonly { code: string; tag: string; index: number; message: string }[]
      assert.deepEqual(
        issues.map(({ code, tag, index }) => [code, tag, index]),
        [
          ['POINT_TOO_OLD', 'local/short.a', 1],
          ['POINT_TOO_OLD', 'local/short.a', 2],
        ],
      )
      assert.match(
        issues[0]!.message,
        /^Point of tag local\/short\.a at \S+Z is too old: the oldest time that is taken is \S+Z$/,
      )
      assert.deepEqual(await valuesOf(service, 'local/short.a'), Array(i + 1).fill(3))
      assert.deepEqual(await valuesOf(service, 'local/long'), Array(i + 1).fill(5))
    }
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    const [, leftOut] = /^tidemark_points_total\{type="embedded",direction="too_old"\} (\d+)$/m.exec(metrics)!
    assert.ok(Number(leftOut) >= 4 * 2 + 1, 'those of each call, and of the first one that was refused')
    await service.stop()
  })
})
