import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Damage } from '../damage.ts'
import {
  anyCommand,
  contentOf,
  contentOfModel,
  ModelCatalog,
  namesOf,
  rename,
  run,
} from './catalog.fixture.ts'
import { EntryArena } from './entry-arena.ts'
import { MemoryCatalog } from './memory-catalog.ts'
import type { TagFields } from './tag-catalog.ts'
import type { TagRecord } from './tag-record.ts'

const groups = fc.array(fc.array(fc.array(anyCommand, { maxLength: 6 }), { maxLength: 4 }), { maxLength: 8 })
const NONE = { description: null, units: null, stepped: false }
const fieldsOf = (name: string, description: string | null = null): TagFields => ({
  ...NONE,
  name,
  description,
})

/** Makes what commands make of a catalog, a record for each list of commands, a draft for each group. */
function applyGroups(
  catalog: MemoryCatalog,
  changes: readonly (readonly (readonly Parameters<typeof run>[0][])[])[],
) {
  const model = new ModelCatalog()
  const records: Uint8Array[] = []
  for (const group of changes) {
    const draft = catalog.draft()
    const taken: Uint8Array[] = []
    for (const commands of group) {
      for (const command of commands) {
        run(command, model, draft)
        for (const name of namesOf([command])) {
          assert.deepEqual(draft.find(name), model.find(name))
          assert.equal(draft.idOf(name), model.find(name)?.id ?? 0)
        }
      }
      const bytes = draft.take()
      if (bytes !== null) taken.push(bytes)
      assert.equal(draft.take(), null)
    }
    for (const bytes of taken) catalog.apply(bytes)
    records.push(...taken)
  }
  return { model, records }
}

test('a catalog is what its changes made of it, under ids, names and in its drafts', () => {
  fc.assert(
    fc.property(groups, (changes) => {
      const catalog = new MemoryCatalog()
      const { model, records } = applyGroups(catalog, changes)
      const again = new MemoryCatalog()
      for (const record of records) again.apply(record)
      for (const one of [catalog, again]) {
        assert.deepEqual(contentOf(one), contentOfModel(model))
        for (const name of namesOf(changes.flat(2))) {
          assert.deepEqual(one.find(name), model.find(name))
          assert.equal(one.idOf(name), model.find(name)?.id ?? 0)
        }
      }
    }),
  )
})

test('records that were applied already can be applied again from any earlier one on', () => {
  fc.assert(
    fc.property(groups, fc.nat(), (changes, seed) => {
      const catalog = new MemoryCatalog()
      const { model, records } = applyGroups(catalog, changes)
      const from = records.length === 0 ? 0 : seed % records.length
      for (const record of records.slice(from)) catalog.apply(record)
      assert.deepEqual(contentOf(catalog), contentOfModel(model))
      for (const { name } of model.byId.values()) assert.deepEqual(catalog.find(name), model.find(name))
    }),
  )
})

test('nobody sees what is prepared before it is applied, and then it is there as without that', async () => {
  await fc.assert(
    fc.asyncProperty(groups, fc.array(fc.boolean(), { minLength: 1 }), async (changes, prepares) => {
      const catalog = new MemoryCatalog()
      const model = new ModelCatalog()
      const order = () => {
        const names = catalog.texts.order('name')
        while (!names.step());
        return Array.from(names.sorted, (address) => catalog.texts.idAt(address)).filter((id) => id !== 0)
      }
      for (const [index, group] of changes.entries()) {
        const before = contentOf(catalog)
        const draft = catalog.draft()
        const records = group.flatMap((commands) => {
          for (const command of commands) run(command, model, draft)
          return draft.take() ?? []
        })
        const look = async () => {
          assert.deepEqual(contentOf(catalog), before)
          for (const name of namesOf(group.flat())) {
            const found = before.tags.find((tag) => tag.name === name) ?? null
            assert.deepEqual(catalog.find(name), found)
            assert.equal(catalog.idOf(name), found?.id ?? 0)
          }
          if (index % 2 === 0) assert.equal(order().length, before.size)
        }
        for (const record of prepares[index % prepares.length] ? records : []) {
          await catalog.prepare(record, { isDue: () => true, pause: look })
        }
        await look()
        for (const record of records) catalog.apply(record)
        let looks = 0
        const lookAfterwards = async () => {
          assert.deepEqual(contentOf(catalog), contentOfModel(model))
          for (const name of namesOf(group.flat())) {
            assert.deepEqual(catalog.find(name), model.find(name))
            assert.equal(catalog.idOf(name), model.find(name)?.id ?? 0)
          }
          assert.equal(order().length, model.byId.size)
          // What is left is settled by the next changes.
          if (++looks === 3 && index % 3 === 0) throw new Error('no more')
        }
        await lookAfterwards()
        await catalog.settle({ isDue: () => true, pause: lookAfterwards }).catch((error) => {
          assert.equal((error as Error).message, 'no more')
        })
        assert.deepEqual(contentOf(catalog), contentOfModel(model))
        for (const { name } of model.byId.values()) assert.deepEqual(catalog.find(name), model.find(name))
        assert.equal(order().length, model.byId.size)
      }
    }),
  )
})

test('the version grows with what changes a tag, and not with new ones', () => {
  const catalog = new MemoryCatalog()
  const change = (work: (draft: ReturnType<MemoryCatalog['draft']>) => void): number => {
    const draft = catalog.draft()
    work(draft)
    const before = catalog.version
    catalog.apply(draft.take()!)
    return catalog.version - before
  }
  assert.equal(
    change((draft) => draft.create(fieldsOf('a'))),
    0,
  )
  const names = ['a', 'b']
  assert.equal(catalog.findList(names), null)
  assert.equal(
    change((draft) => draft.create(fieldsOf('b'))),
    0,
  )
  const ids = catalog.findList(names)
  assert.deepEqual(ids, Uint32Array.of(1, 2))
  assert.equal(
    change((draft) => draft.create(fieldsOf('c'))),
    0,
  )
  assert.equal(catalog.findList(names), ids)
  assert.equal(
    change((draft) => draft.change(draft.find('c')!, { ...draft.find('c')!, units: 'bar' })),
    1,
  )
  assert.notEqual(catalog.findList(names), ids)
  assert.equal(
    change((draft) => rename(draft, [{ record: draft.find('a')!, to: 'd' }])),
    1,
  )
  assert.equal(catalog.findList(names), null)
  assert.equal(
    change((draft) => draft.remove(draft.find('b')!)),
    1,
  )
  const draft = catalog.draft()
  assert.equal(draft.create(fieldsOf('b')).id, 4)
  // It was thrown away: what it gave was nowhere.
  assert.equal(catalog.draft().create(fieldsOf('b')).id, 4)
})

test('thousands of tags that change and go are before and after, and nothing between, while others look', async () => {
  const catalog = new MemoryCatalog()
  const TAGS = 6_000
  const long = 'x'.repeat(500)
  const draft = catalog.draft()
  for (let i = 0; i < TAGS; i++) draft.create(fieldsOf(`tag ${i}`, `${long} ${i}`))
  catalog.apply(draft.take()!)
  const order = () => {
    const names = catalog.texts.order('name')
    while (!names.step());
    return Array.from(names.sorted, (address) => catalog.texts.idAt(address)).filter((id) => id !== 0)
  }
  for (let round = 0; round < 4; round++) {
    const model = new Map<string, string | null>()
    const changes = catalog.draft()
    const turning: TagRecord[] = []
    for (let i = 0; i < TAGS; i++) {
      const record = changes.find(`tag ${i}`)
      if (record === null) {
        model.set(`tag ${i}`, `${long} new in ${round}`)
        changes.create(fieldsOf(`tag ${i}`, `${long} new in ${round}`))
      } else if ((i + round) % 7 === 0) changes.remove(record)
      else if (i % 5 === 0) turning.push(record)
      else {
        model.set(record.name, `${long} ${round}`)
        changes.change(record, { ...record, description: `${long} ${round}` })
      }
    }
    const renames = turning.map((record, i) => ({ record, to: turning[(i + 1) % turning.length]!.name }))
    rename(changes, renames)
    for (const { record, to } of renames) model.set(to, record.description)
    const record = changes.take()!
    const sees = (names: ReadonlyMap<string, string | null>) => {
      for (const [name, description] of names) {
        assert.equal(catalog.find(name)?.description, description)
        assert.equal(catalog.get(catalog.idOf(name))?.name, name)
      }
    }
    const before = new Map(Array.from(model.keys(), (name) => [name, catalog.find(name)?.description]))
    const { size } = catalog
    let pauses = 0
    const pace = (look: () => void) => ({
      isDue: () => true,
      pause: async () => {
        if (pauses++ % 50 === 0) look()
      },
    })
    await catalog.prepare(
      record,
      pace(() => {
        for (const [name, description] of before) assert.equal(catalog.find(name)?.description, description)
        assert.equal(round % 2 === 0 ? size : order().length, size)
      }),
    )
    assert.ok(pauses > TAGS / 20, `${pauses} pauses while it was prepared`)
    catalog.apply(record)
    pauses = 0
    sees(model)
    const after = catalog.size
    await catalog.settle(
      pace(() => {
        sees(model)
        assert.equal(round % 2 === 0 ? catalog.size : order().length, after)
      }),
    )
    assert.ok(pauses > TAGS / 2, `${pauses} pauses afterwards`)
    sees(model)
    assert.equal(order().length, catalog.size)
    assert.ok(
      catalog.reservedBytes < 2 * catalog.entries.bytes + (12 << 20),
      `${catalog.reservedBytes} bytes`,
    )
  }
})

test('orders of tens of thousands of tags are told in steps where entries are when very many tags go', async (t) => {
  const TAGS = 60_000
  const nameOf = (i: number) => `tag ${(i * 7_919) % TAGS}`
  const catalog = new MemoryCatalog()
  const draft = catalog.draft()
  for (let i = 0; i < TAGS; i++) draft.create(fieldsOf(nameOf(i), `${nameOf(i)} ${'x'.repeat(200)}`))
  catalog.apply(draft.take()!)
  const namesIn = (kind: 'name' | 'description') => {
    const order = catalog.texts.order(kind)
    while (!order.step());
    return Array.from(order.sorted, (address) => catalog.texts.idAt(address)).flatMap((id) =>
      id === 0 ? [] : catalog.get(id)!.name,
    )
  }
  const both = () => [namesIn('name'), namesIn('description')]
  both()
  const removing = catalog.draft()
  const left: string[] = []
  for (let i = 0; i < TAGS; i++) {
    if (i % 10 === 0) left.push(nameOf(i))
    else removing.remove(removing.find(nameOf(i))!)
  }
  left.sort()
  const record = removing.take()!
  const { idAt } = EntryArena.prototype
  let looks = 0
  let most = 0
  EntryArena.prototype.idAt = function (address) {
    looks++
    return idAt.call(this, address)
  }
  t.after(() => {
    EntryArena.prototype.idAt = idAt
  })
  let pauses = 0
  const pace = {
    isDue: () => true,
    pause: async () => {
      most = Math.max(most, looks)
      // A search in between sees what is there now.
      if (++pauses % 20_000 === 0) assert.deepEqual(both(), [left, left])
      looks = 0
    },
  }
  await catalog.prepare(record, pace)
  catalog.apply(record)
  pauses = 0
  await catalog.settle(pace)
  assert.ok(pauses > 50_000, `${pauses} pauses`)
  assert.ok(most > 256, 'entries were looked at')
  assert.ok(most < 40_000, `${most} entries of both orders in one step`)
  assert.deepEqual(both(), [left, left])
  assert.ok(catalog.reservedBytes < catalog.entries.bytes + (20 << 20), `${catalog.reservedBytes} bytes`)
})

test('thousands of tags that come, change and go keep their texts, and the memory goes with them', () => {
  const catalog = new MemoryCatalog()
  const names = new Map<string, string>()
  const filler = 'x'.repeat(400)
  for (let round = 0; round < 30; round++) {
    const draft = catalog.draft()
    for (let i = 0; i < 1_000; i++) {
      const name = `tag-${(i * 7 + round * 500) % 4_000}`
      const found = draft.find(name)
      const description = `${filler} ${round} ${i}`
      if (found === null) draft.create(fieldsOf(name, description))
      else if (i % 5 === 0) draft.remove(found)
      else draft.change(found, { ...found, description })
      if (found !== null && i % 5 === 0) names.delete(name)
      else names.set(name, description)
    }
    catalog.apply(draft.take()!)
  }
  assert.equal(catalog.size, names.size)
  for (const [name, description] of names) assert.equal(catalog.find(name)!.description, description)
  // 1 MB chunks, of which at most half is of the past, but for the one that is written.
  assert.ok(catalog.reservedBytes < 2 * catalog.entries.bytes + (3 << 20), `${catalog.reservedBytes} bytes`)
  const draft = catalog.draft()
  for (const name of names.keys()) draft.remove(draft.find(name)!)
  catalog.apply(draft.take()!)
  assert.deepEqual([catalog.size, catalog.entries.bytes], [0, 0])
  assert.ok(catalog.reservedBytes <= 1 << 20)
})

test('a tag takes at most 100 bytes of memory beside its name and description, with all orders', () => {
  const catalog = new MemoryCatalog()
  let [texts, most] = [0, 0]
  for (let tags = 10_000; tags <= 200_000; tags += 10_000) {
    const draft = catalog.draft()
    for (let i = tags - 10_000; i < tags; i++) {
      const [name, description] = [`PLANT${i % 7}/UNIT-${(i * 7_919) % 1_000_003}.PV`, `Feed water ${i}`]
      texts += name.length + description.length
      draft.create({ name, description, units: 'bar', stepped: false })
    }
    catalog.apply(draft.take()!)
    // At these sizes orders are made, then there is what came since, too; chunks of 1 MB are not all but one.
    if (tags === 50_000)
      for (const kind of ['name', 'description'] as const) while (!catalog.texts.order(kind).step());
    if (tags >= 50_000) most = Math.max(most, (catalog.reservedBytes + catalog.tableBytes - texts) / tags)
  }
  while (!catalog.texts.order('name').step());
  most = Math.max(most, (catalog.reservedBytes + catalog.tableBytes - texts) / catalog.size)
  assert.ok(catalog.tableBytes > catalog.size * (4 + 8 / 0.75 + 2 * 4), 'all tables are counted')
  assert.ok(most <= 100, `${most.toFixed(1)} bytes a tag`)
})

test('changes that are damaged are Damage or other changes, never another error, and are made as a whole', () => {
  const draft = new MemoryCatalog().draft()
  for (const name of ['a', 'ß', '\ud800', 'x'.repeat(20)]) draft.create(fieldsOf(name, `about ${name}`))
  rename(draft, [{ record: draft.find('a')!, to: 'b' }])
  draft.remove(draft.find('b')!)
  const bytes = draft.take()!
  let refused = 0
  for (let i = 0; i < 8 * bytes.length + bytes.length; i++) {
    const flips = i < 8 * bytes.length
    const damaged = flips ? Uint8Array.from(bytes) : bytes.subarray(0, i - 8 * bytes.length)
    if (flips) damaged[i >> 3]! ^= 1 << (i & 7)
    const catalog = new MemoryCatalog()
    try {
      catalog.apply(damaged)
      contentOf(catalog)
    } catch (error) {
      assert.ok(error instanceof Damage, String(error))
      assert.deepEqual(contentOf(catalog), contentOf(new MemoryCatalog()))
      refused++
    }
  }
  assert.ok(refused > bytes.length / 2)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (any) => {
      try {
        new MemoryCatalog().apply(Uint8Array.of(1, ...any))
      } catch (error) {
        assert.ok(error instanceof Damage, String(error))
      }
    }),
    { numRuns: 2_000 },
  )
})
