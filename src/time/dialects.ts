import type { TimeExpression, TimeStep } from './expression.ts'
import type { Period } from './periods.ts'
import { amountOf, type Unit, unitNamed } from './units.ts'

/** Grafana's units: case-sensitive, `m` is a minute and `M` a month. */
const GRAFANA_PERIODS = new Map<string, Period>([
  ['s', 'second'],
  ['m', 'minute'],
  ['h', 'hour'],
  ['d', 'day'],
  ['w', 'week'],
  ['M', 'month'],
  ['Q', 'quarter'],
  ['y', 'year'],
])
const GRAFANA_STEP = /([+-])(\d{0,15})([smhdwMQy])|\/([smhdwMQy])/y

/**
 * Grafana's times: `now`, `now-6h`, `now/d`, `now-1d/d+6h`. A step without a number is one; `/d` goes to the
 * beginning of the day, `/w` to Monday. The units are case-sensitive.
 * @returns null for anything else
 */
export function parseGrafana(text: string): TimeExpression | null {
  const compact = withoutBlanks(text)
  if (!/^now(?=[+\-/]|$)/i.test(compact)) return null
  return readSteps(compact, 'now'.length, GRAFANA_STEP, ([, sign, count, unit, rounded]) => {
    if (rounded !== undefined) return { kind: 'start', period: GRAFANA_PERIODS.get(rounded)!, shift: 0 }
    return addStep(sign!, count || '1', unitNamed(GRAFANA_PERIODS.get(unit!)!))
  })
}

const PI_STEP = /([+-])(\d{1,15}(?:\.\d{1,15})?)([a-z]{1,12})/y

/**
 * PI's times: `*` (now), `t` (today) and `y` (yesterday), each with any steps after it: `*-8h`, `t+6h+30m`.
 * Case-insensitive; units as in durations; decimals only of hours and shorter.
 * @returns null for anything else
 */
export function parsePi(text: string): TimeExpression | null {
  const compact = withoutBlanks(text).toLowerCase()
  const start = PI_STARTS.get(compact.charAt(0))
  if (start === undefined) return null
  const steps = readSteps(compact, 1, PI_STEP, ([, sign, count, name]) => {
    const unit = unitNamed(name!)
    return unit?.kind === 'calendar' && count!.includes('.') ? null : addStep(sign!, count!, unit)
  })
  return steps === null ? null : [...start, ...steps]
}

const PI_STARTS = new Map<string, TimeExpression>([
  ['*', []],
  ['t', [{ kind: 'start', period: 'day', shift: 0 }]],
  ['y', [{ kind: 'start', period: 'day', shift: -1 }]],
])

/**
 * Steps that a sticky pattern finds one after the other from a place to the very end, null when it does not
 * get there.
 */
function readSteps(
  text: string,
  from: number,
  pattern: RegExp,
  stepOf: (match: RegExpExecArray) => TimeStep | null,
): TimeStep[] | null {
  const steps: TimeStep[] = []
  pattern.lastIndex = from
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text)
    const step = match === null ? null : stepOf(match)
    if (step === null) return null
    steps.push(step)
  }
  return steps
}

function addStep(sign: string, count: string, unit: Unit | null): TimeStep | null {
  const amount = unit === null ? null : amountOf(count, unit)
  return amount === null ? null : { kind: 'add', sign: sign === '-' ? -1 : 1, amount }
}

/** Without blanks at the ends and around signs: those inside of words and numbers stay. */
function withoutBlanks(text: string): string {
  return text.trim().replaceAll(/ *([+\-/]) */g, '$1')
}
