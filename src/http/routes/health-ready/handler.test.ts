import assert from 'node:assert/strict'
import test from 'node:test'
import { MemoryHistorian } from '../../../../test/contract/memory-historian.ts'
import { EXPIRED_KEY, get, LOCAL_KEY, READ_KEY, testService } from '../../../../test/http/service.ts'
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

test('however many ask at once, a historian is asked once', async () => {
  const busy = new DownHistorian('busy')
  const { app } = testService({ historians: [busy] })
  await Promise.all(Array.from({ length: 20 }, () => ready(app)))
  assert.equal(busy.checks, 1)
})

test('an instance is answered anew, and nobody else hears of its circles; without a key it shares what is known', async () => {
  const circle = new DownHistorian('circle')
  const { app } = testService({ historians: [circle] })
  const hops = { 'x-tidemark-hops': 'another-instance' }
  for (let i = 0; i < 3; i++) await get(app, '/health/ready', { ...hops, 'x-api-key': READ_KEY })
  assert.equal(circle.checks, 3)
  for (let i = 0; i < 3; i++) await get(app, '/health/ready', hops)
  assert.equal(circle.checks, 4)
})
