import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LateOwner, type Owned } from './late-owner.ts'

const errorOf = (code: string) => Object.assign(new Error(code), { code })

test('what is in the way of an owner is logged once, until something else is', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told: string[] = []
  const log = {
    info: (_fields: object, message: string) => told.push(message),
    error: ({ err }: { readonly err?: Error }, message: string) => told.push(err?.message ?? message),
  }
  let cause: Error | null = null
  const open = async () => {
    if (cause !== null) throw cause
    return {} as Owned
  }
  let isTaken = false
  const late = new LateOwner('plant', errorOf('ENOSPC'), open, log)
  late.wait(() => {
    isTaken = true
  })
  assert.match(told.splice(0).join(), /^there is no room/)
  for (const [met, logged] of [
    ['ENOSPC', []],
    ['EROFS', ['EROFS']],
    ['EIO', ['EIO']],
    ['EDQUOT', []],
    ['EIO', ['EIO']],
  ] as const) {
    cause = errorOf(met)
    for (let second = 0; second < 5; second++) {
      t.mock.timers.tick(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(told.splice(0), logged, met)
  }
  cause = null
  t.mock.timers.tick(1_000)
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(isTaken)
  assert.deepEqual(told, ['there is room again: changes are made'])
})
