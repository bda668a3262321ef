import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { HistorianRegistry } from '../../src/historian/registry.ts'
import { type MultiAnswer, runMulti } from '../../src/multi/run.ts'
import { UTC } from '../../src/time/zone.ts'
import type { MemoryHistorian } from '../contract/memory-historian.ts'
import { historianOf, LIMITS, NOON } from '../multi-harness.ts'

/*
 * Labels that one point of a stored tag answers go a shorter way than all others. Whatever they stand beside, and
 * whatever goes wrong, the answer is the one that series give.
 */

let historians: readonly MemoryHistorian[]
before(async () => {
  const tags = {
    FLOW: {
      points: [
        ['10:00', 10],
        ['10:10', -0],
        ['11:59', 99, 'BAD'],
      ],
    },
    STEPS: {
      stepped: true,
      points: [
        ['09:00', 1],
        ['12:00', 2.5],
        ['13:00', 3],
      ],
    },
    NEVER: { points: [] },
    __proto__x: { points: [['10:00', 7]] },
  } as const
  historians = [
    await historianOf('plant', tags),
    await historianOf('lab', { FLOW: { points: [['10:30', 5]] } }),
    failing(
      await historianOf('broken', tags),
      () => new TidemarkError('STORAGE_CORRUPT', { historian: 'broken', reason: 'x' }),
      'STEPS',
    ),
    failing(
      await historianOf('away', tags),
      () => new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'away', reason: 'x' }),
      null,
    ),
    failing(await historianOf('buggy', tags), () => new Error('no error of ours'), 'FLOW'),
  ]
})

/**
 * A historian that cannot read the points of a tag, or of any, in whichever way: what a range has brought by the time
 * that a single point is wanted depends on how much fits into a tick.
 */
function failing(historian: MemoryHistorian, error: () => Error, tag: string | null): MemoryHistorian {
  const { readPoints, readRanges, readBoundingValues } = historian
  const check = (tags: readonly string[]): void => {
    if (tag === null || tags.includes(tag)) throw error()
  }
  const tagsOf = (queries: readonly { readonly tag: string }[]) => queries.map(({ tag }) => tag)
  historian.readPoints = async (queries, context) => {
    check(tagsOf(queries))
    return readPoints.call(historian, queries, context)
  }
  historian.readRanges = async (queries, context) => {
    check(tagsOf(queries))
    return readRanges.call(historian, queries, context)
  }
  historian.readBoundingValues = async (tags, times, context) => {
    check(tags)
    return readBoundingValues.call(historian, tags, times, context)
  }
  return historian
}

const historian = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('plant') },
  {
    weight: 4,
    arbitrary: fc.constantFrom('lab', 'broken', 'away', 'buggy', 'nowhere', 'Constants', 'aliases'),
  },
)
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('FLOW', 'STEPS', 'NEVER', '__proto__x') },
  { weight: 1, arbitrary: fc.constantFrom('NOPE', '5', '', 'a\tb', 'FLOW/x', '__proto__') },
)
const tag = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(historian, name).map((parts) => parts.join('/')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'calc/ADD(plant/FLOW, plant/STEPS)',
      'calc/ADD(',
      'x',
      'calc/NOBAD(away/FLOW)',
      'siggen/x',
    ),
  },
)
const time = fc.constantFrom('now', '10:10', '2026-01-15T10:10:00Z', '2026-01-15T12:00:00Z', 'soonish', 5)
const at = fc.record({ at: time })
const range = fc.constant({ from: '2026-01-15T09:00:00Z', to: 'now', maxPoints: 3 })
const request = fc.oneof(
  fc.record({ type: fc.constant('CURRENT_POINT'), tag }),
  fc.record({
    type: fc.constant('CURRENT_POINT'),
    tag,
    details: fc.constantFrom<unknown>(
      {},
      null,
      { now: null },
      { now: 'now' },
      { now: '2026-01-15T10:10:00Z' },
      { nwo: 1 },
      [],
    ),
  }),
  fc.record({
    type: fc.constantFrom('POINT_BEFORE', 'POINT_BEFORE_OR_AT', 'POINT_AFTER', 'POINT_AFTER_OR_AT'),
    tag,
    details: at,
  }),
  fc.record({ type: fc.constantFrom('ADJACENT_POINTS', 'HISTORICAL_POINT'), tag, details: at }),
  fc.record({ type: fc.constant('RAW_POINTS'), tag, details: range }),
  fc.record({ type: fc.constantFrom<unknown>('CURRENT', null), tag, extra: fc.constant(1) }),
)
const labels = fc.dictionary(
  fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('__proto__', '1', 'a"b', 'ä')),
  request,
  { maxKeys: 12 },
)
const call = fc.record(
  {
    now: fc.constantFrom('2026-01-15T11:00:00Z', '2026-01-15T12:00:00.5Z'),
    timeZone: fc.constantFrom('Europe/Oslo', 'UTC'),
    explain: fc.boolean(),
    format: fc.constantFrom('points', 'columns'),
  },
  { requiredKeys: [] },
)
const limits = fc.record({
  requestedPoints: fc.constantFrom(100_000, 3),
  historianLoad: fc.constantFrom(500_000, 2),
  effectiveTags: fc.constantFrom(100, 1),
})

/** Historians that give what they have at once, and not in a promise. */
const prompt = fc.constantFrom<readonly string[]>([], ['plant'], ['plant', 'lab', 'broken', 'away', 'buggy'])

describe('a label that one point of a stored tag answers', () => {
  for (const seen of [null, ['plant', 'broken', 'away']]) {
    test(`is answered as its series would answer, with ${seen === null ? 'all historians' : 'some of them'} visible`, async () => {
      await fc.assert(
        fc.asyncProperty(labels, call, limits, prompt, async (requests, rest, few, promptOnes) => {
          // As JSON brings it: __proto__ is a label of its own.
          const body = JSON.parse(
            `{"requests":{${Object.entries(requests)
              .map(([label, one]) => `${JSON.stringify(label)}:${JSON.stringify(one)}`)
              .join(',')}}}`,
          )
          Object.assign(body, rest)
          const ask = async (slowPathOnly: boolean) => {
            for (const historian of historians) {
              historian.isPrompt = !slowPathOnly && promptOnes.includes(historian.name)
            }
            const answer = await runMulti(
              body,
              {
                historians: new HistorianRegistry(historians).viewFor(seen),
                limits: { ...LIMITS, ...few },
                defaultZone: UTC,
                defaultHistorian: null,
                now: NOON,
                signal: new AbortController().signal,
              },
              { slowPathOnly },
            )
            return shown(answer)
          }
          const [fast, slow] = [await ask(false), await ask(true)]
          // Reads of a calculation travel together where they are made in one tick, and find points that a range has
          // brought already where they are made later: how much fits into a tick depends on the time that it takes.
          if (Object.values(requests).some(({ tag }) => tag.startsWith('calc/')))
            fast.statistics = slow.statistics
          assert.deepEqual(fast, slow)
        }),
        { numRuns: 1_500 },
      )
    })
  }

  test('is answered at once when its historian can', async () => {
    const call = {
      historians: new HistorianRegistry(historians),
      limits: LIMITS,
      defaultZone: UTC,
      defaultHistorian: null,
      now: NOON,
      signal: new AbortController().signal,
    }
    const body = { requests: { a: { type: 'CURRENT_POINT', tag: 'plant/FLOW' } } }
    const [plant] = historians
    plant!.isPrompt = true
    const answer = runMulti(body, call)
    assert.ok(!(answer instanceof Promise))
    plant!.isPrompt = false
    assert.deepEqual(shown(answer), shown(await runMulti(body, call)))
    const gone = { ...call, signal: AbortSignal.abort() }
    plant!.isPrompt = true
    await assert.rejects(async () => runMulti(body, gone), { code: 'CANCELLED' })
    plant!.isPrompt = false
  })

  test('shares its read with series that need the same point', async () => {
    const current = { type: 'CURRENT_POINT', tag: 'plant/FLOW' }
    const requests = {
      a: current,
      b: { type: 'POINT_BEFORE_OR_AT', tag: 'plant/FLOW', details: { at: 'now' } },
      c: { type: 'ADJACENT_POINTS', tag: 'plant/FLOW', details: { at: 'now' } },
      d: { ...current, tag: 'calc/ADD(plant/FLOW, 0)' },
    }
    const call = {
      historians: new HistorianRegistry(historians),
      limits: LIMITS,
      defaultZone: UTC,
      defaultHistorian: null,
      now: NOON,
      signal: new AbortController().signal,
    }
    const alone = await runMulti({ requests: { a: current } }, call)
    assert.deepEqual(alone.statistics, { points: 1, historianCalls: 1 })
    const together = await runMulti({ requests: { a: current, b: requests.b } }, call)
    assert.deepEqual(together.statistics, { points: 1, historianCalls: 1 })
    const mixed = await runMulti({ requests }, call)
    assert.deepEqual(
      mixed.statistics,
      (await runMulti({ requests }, call, { slowPathOnly: true })).statistics,
    )
  })
})

function shown({ outcome, whole, chunks, labels, invalidLabels, statistics, failures }: MultiAnswer) {
  const text = Buffer.concat([...chunks()]).toString()
  const inOnePiece = whole?.() ?? null
  if (inOnePiece !== null) assert.equal(Buffer.from(inOnePiece).toString(), text)
  return {
    outcome,
    text,
    labels,
    invalidLabels,
    statistics: { ...statistics },
    failures: failures.map(String),
  }
}

test('a historian that could not be reached is not asked a second time', async () => {
  for (const method of ['findTags', 'readPoints'] as const) {
    const away = await historianOf('away', { FLOW: { points: [['10:00', 1]] } })
    let asked = 0
    away[method] = async () => {
      asked++
      throw new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'away', reason: 'x' })
    }
    const body = { requests: { a: { type: 'CURRENT_POINT', tag: 'away/FLOW' } } }
    const ask = async (slowPathOnly: boolean) => {
      const signal = new AbortController().signal
      const historians = new HistorianRegistry([away])
      const call = { historians, limits: LIMITS, defaultZone: UTC, defaultHistorian: null, now: NOON, signal }
      const answer = await runMulti(body, call, { slowPathOnly })
      return { text: Buffer.concat([...answer.chunks()]).toString(), failures: answer.failures.length }
    }
    const fast = await ask(false)
    assert.equal(asked, 1, method)
    assert.deepEqual(fast, await ask(true))
  }
})
