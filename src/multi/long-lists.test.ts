import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alwaysDue } from '../../test/always-due.ts'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, LIMITS, NOON } from '../../test/multi-harness.ts'
import { MemoryAliasStore } from '../aliases/memory-store.fixture.ts'
import { aliasViews } from '../aliases/view.ts'
import { SIGNATURES } from '../calc/functions/index.ts'
import { parseTag } from '../grammar/parser.ts'
import { printTag } from '../grammar/print.ts'
import type { TagNode } from '../grammar/tree.ts'
import { HistorianRegistry, type HistorianView } from '../historian/registry.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { UTC } from '../time/zone.ts'
import type { CallLabel } from './call.ts'
import { explainTexts } from './explain.ts'
import { checkTagNames } from './parse.ts'
import { type Plan, totalsOf } from './plan.ts'
import { resolveTags } from './resolve.ts'

const LABELS = 20_000
const { signal } = new AbortController()
const historian = new MemoryHistorian('local')
const historians: Pick<HistorianView, 'find'> = { find: () => historian }
const nameOf = (i: number) => `tag ${i}`

test('the tags of very many labels are gone through in slices, those of a few at once', async (t) => {
  const rests = alwaysDue(t)
  const resolve = (count: number) => {
    const trees = Array.from({ length: count }, (_, i): TagNode => {
      return { kind: 'tag', historian: 'local', name: nameOf(i), column: 1 }
    })
    return resolveTags(trees, historians as HistorianView, { signal }, new Map())
  }
  await resolve(100)
  assert.equal(rests(), 0)
  const findTag = await resolve(LABELS)
  // Once as they are wanted, once as they are found.
  assert.ok(rests() >= LABELS / 128, `${rests()} rests`)
  const last = { historian: 'local', name: nameOf(LABELS - 1) } as TagNode
  assert.throws(() => findTag(last), { code: 'TAG_NOT_FOUND' })
})

test('calculations of many tags are gone through in slices, however few there are', async (t) => {
  const rests = alwaysDue(t)
  const labels = 200
  const tag = `calc/ADD(${Array.from({ length: 500 }, (_, i) => `local/tag ${i % 5}`).join(', ')})`
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOON, zone: UTC }
  const trees = Array.from({ length: labels }, () => parseTag(tag, options))
  await resolveTags(trees, historians as HistorianView, { signal }, new Map())
  assert.ok(rests() >= labels, `${rests()} rests`)
  const parsed = trees.map((tree) => ({ kind: 'parsed', tree, otherTree: null }) as unknown as CallLabel)
  const scheduler = new CooperativeScheduler(signal)
  assert.equal(await checkTagNames(parsed, 10_000, scheduler), false)
  assert.ok(rests() >= 2 * labels, `${rests()} rests`)
  const requests = Object.fromEntries(
    trees.map((_, i) => [`label ${i}`, { type: 'HISTORICAL_POINT', tag, details: { at: 0 } }]),
  )
  const before = rests()
  await askBody([historian], { requests, explain: true })
  // They are parsed, their tags are counted and looked up, and they are planned.
  assert.ok(rests() - before > 3 * labels, `${rests() - before} rests`)
})

test('what very many labels would need is said in slices', async (t) => {
  const rests = alwaysDue(t)
  const labels = Array.from({ length: LABELS }, (_, i) => {
    return { kind: 'planned', parsed: { label: `label ${i}` }, size: { points: 1, windows: 0 }, reads: [] }
  })
  const totals = { requestedPoints: 0, effectiveTags: 0, aggregateWindows: 0, load: null }
  const scheduler = new CooperativeScheduler(signal)
  const texts = await explainTexts(
    { labels, reads: null } as unknown as Plan,
    { totals, limits: LIMITS, reasons: [] },
    scheduler,
  )
  assert.ok(rests() >= LABELS / 256 - 1, `${rests()} rests`)
  assert.ok(texts.length > 10 && texts.every(({ length }) => length < 100_000))
  const { requests } = JSON.parse(texts.join(''))
  assert.equal(Object.keys(requests).length, LABELS)
})

test('what very many labels need is added up in slices', async (t) => {
  const rests = alwaysDue(t)
  const labels = Array.from({ length: LABELS }, (_, i) => ({
    kind: 'planned',
    size: { points: 2, windows: 1 },
    reads: [{ number: i % 5_000, points: 1, isCapped: false }],
  }))
  const scheduler = new CooperativeScheduler(signal)
  const plan = { labels, reads: null } as unknown as Plan
  const totals = await totalsOf(plan, { withLoad: false }, scheduler)
  assert.deepEqual(totals, {
    requestedPoints: 2 * LABELS,
    aggregateWindows: LABELS,
    effectiveTags: 5_000,
    load: null,
  })
  assert.ok(rests() >= (2 * LABELS) / 1_024 - 2, `${rests()} rests`)
})

test('aliases in many calculations are replaced in slices, and refer to the same in all of them', async (t) => {
  const rests = alwaysDue(t)
  const store = new MemoryAliasStore({ flow: 'local/FLOW 0' })
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOON, zone: UTC }
  const language = { signatures: SIGNATURES, defaultHistorian: null, clock: () => NOON, zone: UTC }
  const view = aliasViews(store, language)(new HistorianRegistry([historian]))
  const trees = Array.from({ length: 100 }, (_, i) => parseTag(`calc/ADD(aliases/flow, ${i})`, options))
  const read = store.read.bind(store)
  let looks = 0
  store.read = async (work) => {
    looks++
    await store.put({ name: 'flow', tag: `local/FLOW ${looks}`, description: null, units: null }, () => {})
    return read(work)
  }
  const { trees: expanded } = await view.expand(trees, { now: NOON, zone: UTC }, { signal })
  assert.equal(looks, trees.length)
  assert.ok(rests() >= trees.length - 1, `${rests()} rests`)
  assert.ok(expanded.every((tree) => printTag(tree).includes('local/FLOW 1')))
})
