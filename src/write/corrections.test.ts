import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { contents, context, historianWith, pointsOf, writeCall } from '../../test/write/call.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian } from '../historian/contract.ts'
import { deletePoints, deleteTags } from './corrections.ts'
import { renameTags } from './rename.ts'
import { writePoints } from './write-points.ts'

type Correction = typeof deletePoints | typeof deleteTags | typeof renameTags

/** A historian whose tags have points at 10, 20 and 30 s. */
async function filled(name: string, tags: readonly string[]) {
  const historian = await historianWith(name, tags)
  const columns = { timestamps: [10, 20, 30], values: [1, 2, 3] }
  const points = Object.fromEntries(tags.map((tag) => [`${name}/${tag}`, columns]))
  await writePoints({ points }, writeCall([historian]))
  return historian
}

async function run(correct: Correction, body: unknown, ...historians: readonly Historian[]) {
  const all = historians.length > 0 ? historians : [await filled('local', ['A', 'B'])]
  const { outcome, body: answered } = await correct(JSON.parse(JSON.stringify(body)), writeCall(all))
  return { outcome, body: JSON.parse(JSON.stringify(answered)) }
}

/** The sentences of a correction that changed nothing. */
async function issuesOf(correct: Correction, body: unknown, ...others: readonly Historian[]) {
  const local = await filled('local', ['A', 'B'])
  const before = await contents(local)
  const result = await run(correct, body, local, ...others)
  assert.equal(result.outcome, 'issues')
  assert.equal(result.body.message, 'There were errors in the request')
  assert.deepEqual(
    result.body.issues.map((issue: { message: string }) => issue.message),
    result.body.errors,
  )
  assert.deepEqual(await contents(local), before)
  return result.body.errors
}

const timesOf = async (historian: Historian, tag: string) =>
  (await pointsOf(historian, tag)).map(([time]) => time! / 1e6)

describe('delete/points', () => {
  test('points from `from` up to and without `to` go, counted once where ranges overlap', async () => {
    const local = await filled('local', ['A', 'B'])
    const ranges = {
      'local/A': [
        { from: 10, to: 30 },
        { from: 15, to: 25 },
      ],
      'local/B': [{ from: 40, to: 'now' }],
    }
    assert.deepEqual(await run(deletePoints, { ranges }, local), {
      outcome: 'done',
      body: { message: 'All points deleted!', deleted: { 'local/A': 2, 'local/B': 0 }, errors: [] },
    })
    assert.deepEqual(await timesOf(local, 'A'), [30])
    assert.deepEqual(await timesOf(local, 'B'), [10, 20, 30])
  })

  test('a dry run counts and changes nothing', async () => {
    const local = await filled('local', ['A'])
    const body = { ranges: { 'local/A': [{ from: 0, to: 25 }] }, dryRun: true }
    assert.deepEqual((await run(deletePoints, body, local)).body, {
      message: 'Dry run: nothing was changed',
      deleted: { 'local/A': 2 },
      errors: [],
    })
    assert.deepEqual(await timesOf(local, 'A'), [10, 20, 30])
  })

  test('times are read against now and timeZone of the request', async () => {
    const local = await filled('local', ['A'])
    const ranges = { 'local/A': [{ from: '1970-01-01T01:00:15', to: 'now' }] }
    const body = { ranges, now: 25, timeZone: 'Europe/Oslo' }
    assert.deepEqual((await run(deletePoints, body, local)).body.deleted, { 'local/A': 1 })
    assert.deepEqual(await timesOf(local, 'A'), [10, 30])
  })

  test('everything that is wrong is reported, and nothing is changed', async () => {
    const archive = await historianWith('archive', ['A'], { writable: false })
    const ranges = {
      'local/A': [{ from: 0, to: 25 }],
      'local/C': [],
      'archive/A': [],
      'none/A': [],
      'calc/X': [],
      A: [],
      'local/B': [5, { from: 'soon' }, { from: 20, to: 20 }],
      'local/B2': { from: 1, to: 2 },
    }
    assert.deepEqual(await issuesOf(deletePoints, { ranges }, archive), [
      'Tag local/C does not exist',
      'Historian archive for tag A is not writable',
      'Historian none for tag A does not exist',
      'Historian calc for tag X is not writable',
      'Invalid tag address A: <historian_name>/<tag_name> is expected',
      'Invalid range 5 for tag local/B: an object with from and to, from before to, is expected',
      'Error: Cannot parse type soon as time input for tag local/B',
      'Error: Cannot parse type null as time input for tag local/B',
      'Invalid range {"from":20,"to":20} for tag local/B: an object with from and to, from before to, is expected',
      'Tag local/B2 does not exist',
      'Invalid ranges {"from":1,"to":2} for tag local/B2: an array of objects with from and to is expected',
    ])
  })

  test('a historian that cannot do it says so', async () => {
    const sink = await historianWith('sink', ['A'])
    Object.defineProperty(sink, 'capabilities', { value: { ...sink.capabilities, deletePoints: false } })
    assert.deepEqual(await issuesOf(deletePoints, { ranges: { 'sink/A': [] } }, sink), [
      'Historian sink cannot delete points',
    ])
  })

  test('the end may lie behind the last time that a point may have', async () => {
    for (const to of ['2200-01-01T00:00:00Z', '9999-12-31', 7_258_118_400_000]) {
      const local = await historianWith('local', ['A'])
      const points = { 'local/A': [{ timestamp: '2199-12-31T23:59:59.999999Z', value: 1 }] }
      await writePoints({ points }, writeCall([local]))
      const ranges = { 'local/A': [{ from: '2199-12-31T23:59:59Z', to }] }
      assert.deepEqual((await run(deletePoints, { ranges }, local)).body.deleted, { 'local/A': 1 })
    }
  })

  test('without ranges, or with a dryRun that is no boolean, it is refused', async () => {
    const refused = { outcome: 'refused', deleted: {} }
    for (const [body, message] of [
      [{}, 'Invalid ranges null: an object of ranges by tag address is expected'],
      [{ ranges: {}, dryRun: 'no' }, 'Invalid dryRun no: true or false is expected'],
    ] as const) {
      const { outcome, body: answered } = await run(deletePoints, body)
      assert.deepEqual({ outcome, deleted: answered.deleted }, refused)
      assert.deepEqual([answered.message, answered.errors], [message, [message]])
    }
  })

  test('several historians, one failing: it is said what became of each part', async () => {
    const [a, b] = [await filled('a', ['X']), await filled('b', ['X'])]
    b.deletePoints = async () => {
      throw new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'b', reason: 'no route' })
    }
    const ranges = { 'a/X': [{ from: 0, to: 15 }], 'b/X': [{ from: 0, to: 15 }] }
    const { outcome, body } = await run(deletePoints, { ranges }, a, b)
    assert.equal(outcome, 'unavailable')
    assert.deepEqual(body.deleted, {})
    assert.deepEqual(body.errors, [
      'Historian a made its changes',
      'Historian b did not change anything: Historian b could not be reached: no route',
    ])
  })

  test('what a historian knows of a change that failed is reported for changes, not for points', async () => {
    const a = await filled('a', ['X'])
    const ranges = { 'a/X': [{ from: 0, to: 15 }] }
    for (const [thrown, code, message] of [
      ['WRITE_PARTIAL', 'CHANGE_PARTIAL', 'Historian a made only a part of its changes: its disk is full'],
      ['WRITE_FAILED', 'CHANGE_FAILED', 'Historian a did not change anything: its disk is full'],
      [
        'WRITE_OUTCOME_UNKNOWN',
        'CHANGE_OUTCOME_UNKNOWN',
        'It is not known whether historian a made its changes: its disk is full',
      ],
    ] as const) {
      a.deletePoints = async () => {
        throw new TidemarkError(thrown, { historian: 'a', reason: 'its disk is full' })
      }
      const { outcome, body } = await run(deletePoints, { ranges }, a)
      assert.equal(outcome, 'unavailable')
      assert.deepEqual(body.issues, [{ code, message }])
    }
  })
})

describe('metadata/delete', () => {
  test('tags go with all their points, each counted once', async () => {
    const local = await filled('local', ['A', 'B'])
    assert.deepEqual(await run(deleteTags, { tags: ['local/A', 'local/A'] }, local), {
      outcome: 'done',
      body: { message: 'All tags deleted!', deleted: { 'local/A': 3 }, errors: [] },
    })
    assert.deepEqual(Object.keys(await contents(local)), ['B'])
  })

  test('a dry run counts and changes nothing', async () => {
    const local = await filled('local', ['A'])
    const { body } = await run(deleteTags, { tags: ['local/A'], dryRun: true }, local)
    assert.deepEqual(body, { message: 'Dry run: nothing was changed', deleted: { 'local/A': 3 }, errors: [] })
    assert.deepEqual(await timesOf(local, 'A'), [10, 20, 30])
  })

  test('everything that is wrong is reported, and nothing is changed', async () => {
    assert.deepEqual(await issuesOf(deleteTags, { tags: ['local/A', 'local/C', 5, 'none/X'] }), [
      'Tag local/C does not exist',
      'Invalid tag address 5: <historian_name>/<tag_name> is expected',
      'Historian none for tag X does not exist',
    ])
  })

  test('a tag that somebody else deleted in between is reported, and nothing is changed', async () => {
    const local = await filled('local', ['A', 'B'])
    const inner = local.deleteTags.bind(local)
    local.deleteTags = async (names, dryRun, callContext) => {
      await inner(['B'], false, context())
      return inner(names, dryRun, callContext)
    }
    const { outcome, body } = await run(deleteTags, { tags: ['local/A', 'local/B'] }, local)
    assert.deepEqual([outcome, body.errors], ['issues', ['Tag local/B does not exist']])
    assert.deepEqual(Object.keys(await contents(local)), ['A'])
  })
})

describe('metadata/rename', () => {
  test('a tag keeps its points and metadata under its new name', async () => {
    const local = await filled('local', ['A'])
    assert.deepEqual(await run(renameTags, { renames: { 'local/A': 'local/x/Y' } }, local), {
      outcome: 'done',
      body: { message: 'All tags renamed!', renamed: { 'local/A': 'local/x/Y' }, errors: [] },
    })
    assert.deepEqual(Object.keys(await contents(local)), ['x/Y'])
    assert.deepEqual(await timesOf(local, 'x/Y'), [10, 20, 30])
  })

  test('names may be swapped, handed on in a chain, and kept', async () => {
    const local = await historianWith('local', ['A', 'B', 'C', 'D', 'E'])
    const points = Object.fromEntries(
      ['A', 'B', 'C', 'D', 'E'].map((tag, index) => [`local/${tag}`, [{ timestamp: 0, value: index }]]),
    )
    await writePoints({ points }, writeCall([local]))
    const renames = {
      'local/A': 'local/B',
      'local/B': 'local/A',
      'local/C': 'local/D',
      'local/D': 'local/F',
      'local/E': 'local/E',
    }
    assert.equal((await run(renameTags, { renames }, local)).outcome, 'done')
    const values = async (tag: string) => (await pointsOf(local, tag))[0]?.[1]
    assert.deepEqual(await Promise.all(['A', 'B', 'C', 'D', 'E', 'F'].map(values)), [
      1,
      0,
      undefined,
      2,
      4,
      3,
    ])
  })

  test('any one-to-one renaming is done; a new name that is taken refuses all of it', async () => {
    const names = ['A', 'B', 'C', 'D', 'E']
    const pairs = fc.dictionary(fc.constantFrom('A', 'B', 'C'), fc.constantFrom(...names))
    await fc.assert(
      fc.asyncProperty(pairs, async (chosen) => {
        const local = await historianWith('local', ['A', 'B', 'C', 'D'])
        const before = Object.keys(await contents(local))
        const entries = Object.entries(chosen)
        const after = before.filter((name) => !(name in chosen)).concat(Object.values(chosen))
        const renames = Object.fromEntries(entries.map(([from, to]) => [`local/${from}`, `local/${to}`]))
        const { outcome } = await run(renameTags, { renames }, local)
        const isOneToOne = new Set(after).size === after.length
        assert.equal(outcome, isOneToOne ? 'done' : 'issues')
        assert.deepEqual(Object.keys(await contents(local)).sort(), (isOneToOne ? after : before).toSorted())
      }),
    )
  })

  test('a dry run changes nothing', async () => {
    const local = await filled('local', ['A'])
    const { body } = await run(renameTags, { renames: { 'local/A': 'local/B' }, dryRun: true }, local)
    assert.deepEqual(body, {
      message: 'Dry run: nothing was changed',
      renamed: { 'local/A': 'local/B' },
      errors: [],
    })
    assert.deepEqual(Object.keys(await contents(local)), ['A'])
  })

  test('everything that is wrong is reported, and nothing is changed', async () => {
    const other = await historianWith('other', ['X'])
    const renames = {
      'local/A': 'local/B',
      'local/C': 'local/N',
      'none/X': 'none/Y',
      'other/X': 'local/X',
      X: 'local/X',
    }
    assert.deepEqual(await issuesOf(renameTags, { renames }, other), [
      'Tag local/B already exists',
      'Tag local/C does not exist',
      'Historian none for tag X does not exist',
      'Tag other/X cannot be renamed to local/X: an address in the same historian is expected',
      'Invalid tag address X: <historian_name>/<tag_name> is expected',
    ])
    assert.deepEqual(
      await issuesOf(renameTags, { renames: { 'local/A': 'local/N', 'local/B': 'local/N' } }),
      ['Tag local/B cannot be renamed to local/N: another tag of the request is'],
    )
    assert.deepEqual(await issuesOf(renameTags, { renames: { 'local/A': 'B', 'local/B': null } }), [
      'Invalid tag address B: <historian_name>/<tag_name> is expected',
      'Invalid tag address null: <historian_name>/<tag_name> is expected',
    ])
  })

  test('a name that is taken between check and renaming is reported', async () => {
    const local = await filled('local', ['A'])
    const inner = local.renameTags.bind(local)
    local.renameTags = async (renames, dryRun, callContext) => {
      const metadata = { description: null, units: null, stepped: false }
      await local.putTags([{ name: 'B', metadata }], 'create', context())
      return inner(renames, dryRun, callContext)
    }
    const { outcome, body } = await run(renameTags, { renames: { 'local/A': 'local/B' } }, local)
    assert.deepEqual([outcome, body.errors], ['issues', ['Tag local/B already exists']])
  })
})
