import { SIGNATURES } from '../../src/calc/functions/index.ts'
import { parseTag } from '../../src/grammar/parser.ts'
import type { TagTree } from '../../src/grammar/tree.ts'
import { UTC } from '../../src/time/zone.ts'
import { expect, type Measurement, measure } from '../measure.ts'
import { secondsIn } from './plant.ts'

/** The longest expressions that are accepted, read into trees: see docs/performance.md. */
const LENGTH = 10_000
const OPTIONS = { signatures: SIGNATURES, zone: UTC, now: secondsIn(0), defaultHistorian: null }
const RUNS = { warmUps: 200, runs: 1000 }

const results: Measurement[] = []
await measureParse('wide', wide())
await measureParse('nested', nested())
process.stdout.write(JSON.stringify(results))

async function measureParse(name: string, { text, calls }: Expression): Promise<void> {
  expect(text.length === LENGTH, 'the expression has 10,000 characters')
  const json = JSON.stringify(parseTag(text, OPTIONS))
  const reading = await measure(
    `reference/parse-json/${name}`,
    () => expect(JSON.parse(json).kind === 'call', 'it is a call'),
    RUNS,
  )
  const parsing = await measure(
    `calc/parse/10000-characters/${name}`,
    () => expect(countCalls(parseTag(text, OPTIONS)) === calls, `there are ${calls} calls`),
    { ...RUNS, items: LENGTH },
  )
  results.push(reading, {
    ...parsing,
    note: `${(parsing.medianMs / reading.medianMs).toFixed(2)} x JSON.parse of the tree; items are characters`,
  })
}

interface Expression {
  readonly text: string
  readonly calls: number
}

/** One call with as many calls inside as there is room for. */
function wide(): Expression {
  const parts: string[] = []
  let length = 'calc/ADD()'.length
  for (;;) {
    const part = `MUL(plant/T${parts.length % 100}, ${parts.length}.5)`
    if (length + part.length + 2 > LENGTH) break
    parts.push(part)
    length += part.length + 2
  }
  return { text: padded(`calc/ADD(${parts.join(', ')})`), calls: parts.length + 1 }
}

/** Calls 50 deep, again and again. */
function nested(): Expression {
  const deep = `${'NEG('.repeat(48)}'plant/pump 3, "north"'${')'.repeat(48)}`
  const count = Math.floor((LENGTH - 'calc/ADD()'.length) / (deep.length + 2))
  return { text: padded(`calc/ADD(${Array(count).fill(deep).join(', ')})`), calls: count * 48 + 1 }
}

/** White space before the last parenthesis, to the whole length. */
function padded(text: string): string {
  return `${text.slice(0, -1)}${' '.repeat(LENGTH - text.length)})`
}

function countCalls(tree: TagTree): number {
  if (tree.kind === 'tag') return 0
  return tree.args.reduce((sum, arg) => sum + (arg.kind === 'series' ? countCalls(arg.tree) : 0), 1)
}
