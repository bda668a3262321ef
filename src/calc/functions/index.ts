import type { FunctionSignature } from '../../grammar/tree.ts'
import { abs } from './abs.ts'
import { add } from './add.ts'
import { ceiling } from './ceiling.ts'
import type { FunctionDefinition } from './define.ts'
import { div } from './div.ts'
import { epochMs } from './epoch-ms.ts'
import { exp } from './exp.ts'
import { floor } from './floor.ts'
import { highpass } from './highpass.ts'
import { ifequals } from './ifequals.ts'
import { iftagexists } from './iftagexists.ts'
import { ln } from './ln.ts'
import { log } from './log.ts'
import { lowpass } from './lowpass.ts'
import { max } from './max.ts'
import { maxGap } from './maxgap.ts'
import { mean } from './mean.ts'
import { median } from './median.ts'
import { min } from './min.ts'
import { mod } from './mod.ts'
import { mround } from './mround.ts'
import { mul } from './mul.ts'
import { neg } from './neg.ts'
import { nobad } from './nobad.ts'
import { percentdev } from './percentdev.ts'
import { pointintime } from './pointintime.ts'
import { pow } from './pow.ts'
import { round } from './round.ts'
import { rounddown } from './rounddown.ts'
import { roundup } from './roundup.ts'
import { sign } from './sign.ts'
import { slidingagg } from './slidingagg.ts'
import { sqrt } from './sqrt.ts'
import { stddev } from './stddev.ts'
import { stepped, steppedRaw } from './stepped.ts'
import { sub } from './sub.ts'
import { threshold } from './threshold.ts'
import { timeThreshold } from './time-threshold.ts'
import { timeshift } from './timeshift.ts'
import { totalise } from './totalise.ts'
import { totaliseraw } from './totaliseraw.ts'
import { variance } from './variance.ts'
import { windowagg } from './windowagg.ts'

/** Every function, in the order of the reference. The parser, the planner and the reference all read this table. */
export const FUNCTIONS: readonly FunctionDefinition[] = [
  add,
  sub,
  mul,
  div,
  percentdev,
  exp,
  ln,
  sqrt,
  log,
  pow,
  abs,
  neg,
  sign,
  mod,
  round,
  roundup,
  rounddown,
  mround,
  floor,
  ceiling,
  max,
  min,
  mean,
  median,
  stddev,
  variance,
  iftagexists,
  ifequals,
  threshold,
  timeThreshold,
  stepped,
  steppedRaw,
  nobad,
  maxGap,
  timeshift,
  pointintime,
  epochMs,
  lowpass,
  highpass,
  totalise,
  totaliseraw,
  slidingagg,
  windowagg,
]

const byName: ReadonlyMap<string, FunctionDefinition> = new Map(
  FUNCTIONS.flatMap((definition) =>
    [definition.name, ...definition.aliases].map((name) => [name, definition] as const),
  ),
)

/** The signatures by upper-case name and alias, for the parser. */
export const SIGNATURES: ReadonlyMap<string, FunctionSignature> = byName

/** The function of a canonical name; `null` when there is none. */
export function findFunction(name: string): FunctionDefinition | null {
  return byName.get(name) ?? null
}
