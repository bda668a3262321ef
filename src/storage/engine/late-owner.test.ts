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

test('what others read while there is no room is known to who becomes the owner', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const readers: unknown[] = []
  const owner = { readerAt: (...reader: unknown[]) => readers.push(reader) }
  const late = new LateOwner('plant', errorOf('ENOSPC'), async () => ({ owner }) as unknown as Owned, null)
  const taken = new Promise((resolve) => late.wait(resolve))
  for (const reader of [1, 2, 3]) late.readerAt(reader, 0)
  late.readerAt(2, 7)
  late.readerAt(3, null)
  t.mock.timers.tick(1_000)
  await taken
  assert.deepEqual(readers, [
    [1, 0],
    [2, 7],
  ])
})
