import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { FUNCTIONS } from '../../src/calc/functions/index.ts'
import type { Historian } from '../../src/historian/contract.ts'
import { MemoryHistorian } from '../contract/memory-historian.ts'
import { PushDownHistorian } from '../contract/push-down-historian.ts'
import { FAULT_CODES, type Fault, failing, READS } from '../failing-historian.ts'
import { type Asked, askBody, fill, type Json, pointsEvery, type TestTag } from '../multi-harness.ts'
import { ALL_WRAPS, addressOver, type DrawnRequest, labelsOver, requestOver } from './nested-labels.ts'

const TAGS: Readonly<Record<string, TestTag>> = {
  FINE: { points: pointsEvery(5, { bad: 7 }) },
  ROUGH: { points: pointsEvery(50, { bad: 5 }) },
  STEPS: { stepped: true, points: pointsEvery(17) },
  EMPTY: { points: [] },
}

/** Three historians of the same tags: one answers in promises, one at once, and one computes what it can itself. */
const plant = new MemoryHistorian('plant')
const prompt = new MemoryHistorian('prompt')
const server = new PushDownHistorian('server')
const HISTORIANS: readonly Historian[] = [plant, prompt, server]
const NAMES = HISTORIANS.map(({ name }) => name)

before(async () => {
  prompt.isPrompt = true
  for (const historian of [plant, prompt, server]) await fill(historian, TAGS)
})

const stored = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom('FINE', 'FINE', 'ROUGH', 'STEPS', 'EMPTY'))
  .map(([historian, tag]) => `${historian}/${tag}`)
const leaf = fc.oneof(
  { weight: 8, arbitrary: stored },
  { weight: 1, arbitrary: fc.constantFrom('constants/3', 'siggen/sin4@7200', 'dates/DAY', 'plant/NOPE') },
)

const address = addressOver(leaf, ALL_WRAPS, { least: 0, most: 6 })
const labels = labelsOver(requestOver(address))
const fault: fc.Arbitrary<Fault> = fc.record({
  method: fc.constantFrom(...READS),
  call: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }) },
  ),
  lasts: fc.boolean(),
  way: fc.constantFrom('throw', 'reject', 'reject later'),
  error: fc.constantFrom('HISTORIAN_UNAVAILABLE', 'STORAGE_CORRUPT', 'plain'),
})

const LIMITS = { deadlineSeconds: 1 }

function ask(
  historians: readonly Historian[],
  labels: readonly (readonly [string, DrawnRequest])[],
): Promise<Asked> {
  return askBody(historians, { requests: Object.fromEntries(labels) }, { limits: LIMITS })
}

/** Everything that an answer says of a label, as text, by the name `a`. */
function outcomeOf({ json }: Asked, label: string): string {
  const issues = (json.issues ?? [])
    .filter((issue: Json) => issue.label === label)
    .map((issue: Json) => ({ ...issue, label: 'a' }))
  return JSON.stringify([json.results[label], json.errors[label], json.next?.[label], issues])
}

/** Whether the whole call was ended by a limit or its deadline. */
function isLimited({ answer }: Asked): boolean {
  if (answer.outcome === 'limit' || answer.outcome === 'deadline') return true
  assert.equal(answer.outcome, 'executed')
  return false
}

/** What each label gives in a call of its own; `null` when a limit ends one of them. */
async function outcomesAlone(
  labels: readonly (readonly [string, DrawnRequest])[],
): Promise<Map<string, string> | null> {
  const outcomes = new Map<string, string>()
  for (const [label, request] of labels) {
    const alone = await ask(HISTORIANS, [['a', request]])
    if (isLimited(alone)) return null
    for (const { code } of alone.json.issues ?? []) assert.notEqual(code, 'BUG', request.tag)
    outcomes.set(label, outcomeOf(alone, 'a'))
  }
  return outcomes
}

describe('a label does not depend on the labels beside it', () => {
  test('the drawn calculations hold every function', () => {
    const text = ALL_WRAPS.map((wrap) => wrap('1', '2')).join()
    for (const { name } of FUNCTIONS) assert.ok(text.includes(`${name}(`), name)
  })

  test('nor on their order, byte for byte', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(labels, fc.integer(), async (labels, turn) => {
        const alone = await outcomesAlone(labels)
        if (alone === null) return
        const at = Math.abs(turn) % labels.length
        const turned = [...labels.slice(at), ...labels.slice(0, at)]
        for (const order of [labels, turned.reverse()]) {
          const together = await ask(HISTORIANS, order)
          if (isLimited(together)) continue
          compared++
          for (const [label] of order) assert.equal(outcomeOf(together, label), alone.get(label))
        }
      }),
      { numRuns: 150 },
    )
    assert.ok(compared > 200, `${compared} calls were compared, the others ended by a limit`)
  })

  test('nor on historians that fail and that it does not name', async () => {
    let failures = 0
    let failed = 0
    let untouched = 0
    await fc.assert(
      fc.asyncProperty(
        labels,
        fc.subarray(NAMES, { minLength: 1, maxLength: 2 }),
        fault,
        fault,
        async (labels, broken, ...faults) => {
          const alone = await outcomesAlone(labels)
          if (alone === null) return
          const historians = HISTORIANS.map((historian) => {
            const which = broken.indexOf(historian.name)
            return which < 0 ? historian : failing(historian, faults[which]!, () => failures++)
          })
          const together = await ask(historians, labels)
          // What rejects without a listener is reported when the event loop goes on.
          await setImmediate()
          if (isLimited(together)) return
          for (const [label, { tag }] of labels) {
            const outcome = outcomeOf(together, label)
            if (outcome === alone.get(label)) {
              untouched++
              continue
            }
            const codes = broken.flatMap((name, i) =>
              tag.includes(`${name}/`) ? [FAULT_CODES[faults[i]!.error]] : [],
            )
            const issue = together.json.issues?.find((one: Json) => one.label === label)
            assert.ok(codes.includes(issue?.code), `${outcome} for ${alone.get(label)}`)
            assert.equal(together.json.errors[label], issue.message)
            assert.equal(label in together.json.results, false)
            failed++
          }
        },
      ),
      { numRuns: 250 },
    )
    // Most moments that are drawn come: not those of a call or a method that the labels do not get to.
    const counts = `${failures} failures, ${failed} labels failed, ${untouched} did not`
    assert.ok(failures > 50 && failed > 50 && untouched > 200, counts)
  })
})
