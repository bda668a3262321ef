import assert from 'node:assert/strict'
import test from 'node:test'
import { MemoryHistorian } from '../../../../test/contract/memory-historian.ts'
import {
  EXPIRED_KEY,
  get,
  LOCAL_KEY,
  READ_KEY,
  testKeys,
  testService,
} from '../../../../test/http/service.ts'
import { TidemarkError } from '../../../errors/tidemark-error.ts'

class DownHistorian extends MemoryHistorian {
  checks = 0
  override async checkHealth(): Promise<void> {
    this.checks++
    throw new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: this.name, reason: 'connection refused' })
  }
}

async function ready(app: ReturnType<typeof testService>['app'], key?: string) {
  const { status, text } = await get(app, '/health/ready', key === undefined ? {} : { 'x-api-key': key })
  return { status, text, body: JSON.parse(text) }
}

const down = new DownHistorian('down')
const { app } = testService({ historians: [new MemoryHistorian('local'), down] })

test('with one historian down the service is degraded, and still ready', async () => {
  const { status, body } = await ready(app)
  assert.equal(status, 200)
  assert.equal(body.status, 'degraded')
  assert.deepEqual(
    body.historians.map((historian: { state: string }) => historian.state),
    ['down', 'up'],
  )
})

for (const [title, key] of [
  ['no key', undefined],
  ['an expired key', EXPIRED_KEY],
] as const) {
  test(`with ${title} no historian is named, nor why it is down`, async () => {
    const { status, text, body } = await ready(app, key)
    assert.equal(status, 200)
    assert.doesNotMatch(text, /local|refused|"name"/)
    assert.deepEqual(Object.keys(body.historians[0]).sort(), [
      'atomicWrites',
      'durability',
      'state',
      'type',
      'writable',
    ])
  })
}

test('with a key its own historians are named', async () => {
  const { body } = await ready(app, LOCAL_KEY)
  assert.deepEqual(body, {
    status: 'ready',
    historians: [
      {
        name: 'local',
        type: 'memory',
        state: 'up',
        writable: true,
        durability: 'server',
        atomicWrites: 'request',
      },
    ],
  })
})

test('with every historian down the service is unavailable', async () => {
  const { app } = testService({ historians: [new DownHistorian('down')] })
  const { status, body } = await ready(app)
  assert.equal(status, 503)
  assert.equal(body.status, 'unavailable')
})

test('however many ask at once, a historian is asked once', async (t) => {
  t.mock.method(performance, 'now', () => 0)
  const busy = new DownHistorian('busy')
  const { app } = testService({ historians: [busy] })
  await Promise.all(Array.from({ length: 20 }, () => ready(app)))
  assert.equal(busy.checks, 1)
})

test('an instance is answered anew, and nobody else hears of its circles; without a key it shares what is known', async (t) => {
  t.mock.method(performance, 'now', () => 0)
  const circle = new DownHistorian('circle')
  const { app } = testService({ historians: [circle] })
  const hops = { 'x-tidemark-hops': 'another-instance' }
  for (let i = 0; i < 3; i++) await get(app, '/health/ready', { ...hops, 'x-api-key': READ_KEY })
  assert.equal(circle.checks, 3)
  for (let i = 0; i < 3; i++) await get(app, '/health/ready', hops)
  assert.equal(circle.checks, 4)
})

test('the store of keys is asked once, however many ask', async (t) => {
  t.mock.method(performance, 'now', () => 0)
  let checks = 0
  const checkStore = async () => {
    checks++
  }
  const { app } = testService({ checkStore })
  const answers = await Promise.all(Array.from({ length: 20 }, () => ready(app)))
  for (const { status, body } of answers) {
    assert.deepEqual([status, body.status, body.store], [200, 'ready', { state: 'up' }])
  }
  assert.equal(checks, 1)
})

test('with the store of keys down the service is unavailable, also to a key that cannot be looked up', async () => {
  const refuse = async () => {
    throw new TidemarkError('KEYS_UNAVAILABLE', { reason: 'the connection was refused' })
  }
  const { app } = testService({
    historians: [new MemoryHistorian('local')],
    keys: { ...testKeys(), find: refuse },
    checkStore: refuse,
  })
  for (const key of [undefined, READ_KEY]) {
    const { status, text, body } = await ready(app, key)
    assert.equal(status, 503)
    assert.deepEqual([body.status, body.store], ['unavailable', { state: 'down' }])
    assert.doesNotMatch(text, /local|refused/)
  }
  assert.equal((await get(app, '/health/live', { 'x-api-key': READ_KEY })).status, 200)
  const refused = await get(app, '/historian/list', { 'x-api-key': READ_KEY })
  assert.equal(refused.status, 503)
  assert.match(refused.text, /The store of API keys could not be reached: the connection was refused/)
  // Without a key nothing has to be looked up.
  assert.equal((await get(app, '/historian/list', {})).status, 401)
})

test('a historian that is up can say what to look at, to those who may see it', async () => {
  class TroubledHistorian extends MemoryHistorian {
    async trouble(): Promise<string> {
      return 'the disk is nearly full'
    }
  }
  const { app } = testService({ historians: [new TroubledHistorian('local')] })
  const { status, body } = await ready(app, READ_KEY)
  assert.deepEqual([status, body.status], [200, 'ready'])
  assert.equal(body.historians[0].state, 'up')
  assert.equal(body.historians[0].reason, 'the disk is nearly full')
  assert.doesNotMatch((await ready(app)).text, /nearly full/)
})
