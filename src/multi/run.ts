import { SIGNATURES } from '../calc/functions/index.ts'
import { Evaluation } from '../calc/graph/evaluation.ts'
import { FIXED_LIMITS } from '../errors/limits.ts'
import { type Issue, issueOf, TidemarkError } from '../errors/tidemark-error.ts'
import type { TagTree } from '../grammar/tree.ts'
import type { CallContext } from '../historian/contract.ts'
import { Deadline } from '../historian/deadline.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import { withSuggestions } from '../historian/suggestions.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach } from '../scheduling/each.ts'
import { MemoryGate } from '../scheduling/memory-gate.ts'
import { formatInstant } from '../time/format.ts'
import { traced } from '../tracing/span.ts'
import { answerChunks, explanationChunks, failedCallChunks, pointsAnswer } from './answer.ts'
import type { BufferPool } from './buffer-pool.ts'
import { type CallHead, type CallLabel, type InvalidLabel, type MultiCall, treesOf } from './call.ts'
import { type ExecutableLabel, type ExecutedLabel, executableLabels, executeLabels } from './execute.ts'
import { expandAliases } from './expand.ts'
import { explainTexts } from './explain.ts'
import { refusedFallbacks, withFallbacks } from './fallback.ts'
import { answerPoints, type FastAnswer } from './fast-points.ts'
import { warnOfLeftOut } from './left-out.ts'
import { type Breach, findBreaches } from './limit.ts'
import { checkTagNames, LabelParser, parseHead } from './parse.ts'
import { type Plan, planCall, totalsOf, withoutFailed } from './plan.ts'
import { remedyOf, severalCalls } from './remedy.ts'
import { resolveTags } from './resolve.ts'
import { CallSource, type ReadStatistics } from './source.ts'

/** How a call ended; src/http makes the status of it. */
export type MultiOutcome = 'executed' | 'explained' | 'refused' | 'limit' | 'deadline'

export interface MultiAnswer {
  readonly outcome: MultiOutcome
  /** The JSON of a small answer as one chunk, to be taken in place of `chunks`; `null` for any other. */
  whole?(): string | Uint8Array | null
  /**
   * The JSON of the answer, UTF-8, in buffers of up to some 160 KB; to be taken once.
   * @param pool buffers of large chunks, for a caller that gives them back; left out they are new memory
   */
  chunks(pool?: BufferPool): Iterable<Uint8Array>
  readonly labels: number
  readonly invalidLabels: number
  readonly statistics: ReadStatistics
  /** What failed for a reason that is not the caller's, for the log. */
  readonly failures: readonly unknown[]
}

/** Memory of calculations in this process. */
const CALCULATIONS = new MemoryGate()

/** Bounds what the labels of long calls are planned as and answered with, of all calls together. */
const LONG_CALLS_BYTES = 64 * 2 ** 20
const LONG_CALLS = new MemoryGate(LONG_CALLS_BYTES)
const LABELS_OF_LONG_CALL = 2_000
/**
 * What a label becomes on its way to its answer, about, and a character of its tag where that is a long calculation.
 */
const BYTES_OF_LABEL = 2_048
const BYTES_OF_CHARACTER = 64
/** Calls with as many characters in their tags, or more, wait where others of the kind are planned. */
const CHARACTERS_OF_LONG_CALL = 65_536

/** A call on its way: what was read of it, and what it uses. */
interface Run {
  readonly head: CallHead
  readonly call: MultiCall
  readonly parser: LabelParser
  readonly deadline: Deadline
  /** What historians are called with: what their reads leave out is said in the answer. */
  readonly context: CallContext
}

/**
 * Answers a multi call under one deadline. A call of single raw points that needs no waiting is answered
 * at once. Throws or rejects when the call was cancelled, and with what is a bug; everything else is an answer.
 * @param options.slowPathOnly for tests: every call takes the slow path; the answer is the same
 */
export function runMulti(
  body: unknown,
  call: MultiCall,
  options: { readonly slowPathOnly?: boolean } = {},
): MaybePromise<MultiAnswer> {
  let parsed: ReturnType<typeof parseHead>
  try {
    parsed = parseHead(body, call)
  } catch (error) {
    return refused(error)
  }
  const { head, requests } = parsed
  const { limits } = call
  // Each label requests at least one point: more of them than points are refused unread, whatever they hold.
  if (head.names.length > limits.requestedPoints) {
    const fewest = { requestedPoints: head.names.length, effectiveTags: 0, aggregateWindows: 0, load: null }
    const crowd = findBreaches(fewest, limits)[0]!
    return failed('limit', head, withRemedy(crowd, severalCalls(crowd)))
  }
  const deadline = new Deadline(call.signal, limits.deadlineSeconds)
  const { signal } = deadline
  const context = { signal, warn: (sentence: string) => head.warnings.addDamage(sentence) }
  try {
    const parser = new LabelParser(head, requests, call.defaultHistorian, SIGNATURES, deadline)
    const mayBeFast = options.slowPathOnly !== true && !head.explain
    const fast = mayBeFast && parser.parseNow() ? answerPoints(parser.labels, call, context) : null
    if (fast !== null && !(fast instanceof Promise)) {
      deadline.check()
      return ofFast(head, fast)
    }
    return answerInTime({ head, call, parser, deadline, context }, fast)
  } catch (error) {
    return failedAsWhole(head, error)
  }
}

async function answerInTime(run: Run, fast: Promise<FastAnswer | null> | null): Promise<MultiAnswer> {
  const { head, deadline } = run
  try {
    // An answer must not wait for a driver that does not end with its signal.
    const answer = await deadline.race(answerSlowly(run, fast))
    deadline.check()
    return answer
  } catch (error) {
    return failedAsWhole(head, error)
  } finally {
    deadline.done()
  }
}

async function answerSlowly(run: Run, fast: Promise<FastAnswer | null> | null): Promise<MultiAnswer> {
  const { head, parser, deadline } = run
  const found = await fast
  deadline.signal.throwIfAborted()
  if (found !== null) return ofFast(head, found)
  const labels = head.names.length
  const ofLabels = labels * BYTES_OF_LABEL
  // Of very many labels it makes no difference, and takes milliseconds.
  const characters = ofLabels < LONG_CALLS_BYTES ? parser.characters : 0
  if (labels < LABELS_OF_LONG_CALL && characters < CHARACTERS_OF_LONG_CALL) return answerCall(run)
  const bytes = ofLabels + characters * BYTES_OF_CHARACTER
  return LONG_CALLS.run(bytes, deadline.signal, () => answerCall(run))
}

/** The stages of a call, one after the other. */
async function answerCall(run: Run): Promise<MultiAnswer> {
  const prepared = await traced('multi plan', 'internal', {}, () => prepare(run))
  if ('outcome' in prepared) return prepared
  const { source, evaluation } = prepared
  return traced('multi evaluate', 'internal', {}, async () => {
    const outcomes = await evaluate(prepared, run.deadline)
    // With 100,000 labels each stage takes the time of a slice.
    await evaluation.pause()
    const results = outcomes.filter((outcome) => 'result' in outcome)
    const invalid = outcomes.filter((outcome) => 'issue' in outcome)
    const issues = invalid.map(({ issue }) => issue)
    // Labels whose tag does not exist get the names that were probably meant.
    const better =
      issues.length === 0 ? issues : await withSuggestions(issues, run.call.historians, run.context)
    await evaluation.pause()
    const causes = invalid.map(({ cause }) => cause)
    return executed(run.head, source.statistics, results, better, causes)
  })
}

/** What evaluates the labels of a call. */
interface Prepared {
  readonly labels: readonly (ExecutableLabel | InvalidLabel)[]
  readonly evaluation: Evaluation
  readonly scheduler: CooperativeScheduler
  readonly source: CallSource
  /** A plan of other labels, and what it is over. */
  readonly estimated: (
    labels: readonly CallLabel[],
  ) => Promise<{ readonly plan: Plan; readonly breaches: readonly Breach[] }>
}

/**
 * The outcome of each label; of one that a historian refused to compute, that of its fallback where that is allowed.
 */
async function evaluate(
  { labels, evaluation, scheduler, estimated }: Prepared,
  { signal }: Deadline,
): Promise<readonly (ExecutedLabel | InvalidLabel)[]> {
  const execution = { evaluation, gate: CALCULATIONS, signal }
  const outcomes = await executeLabels(labels, execution)
  const fallbacks = refusedFallbacks(labels, outcomes)
  if (fallbacks === null) return outcomes
  const replaced = await estimated([...fallbacks.values()])
  if (replaced.breaches.length > 0) return outcomes
  const found = await executeLabels(await executableLabels(replaced.plan, scheduler), execution)
  const changed = [...outcomes]
  ;[...fallbacks.keys()].forEach((index, i) => {
    changed[index] = found[i]!
  })
  return changed
}

/** What evaluates the labels of a call, or its answer where there is nothing to evaluate. */
async function prepare({ head, call, parser, deadline, context }: Run): Promise<MultiAnswer | Prepared> {
  const { historians, limits } = call
  const onExhausted = (error: TidemarkError): void => deadline.abort(error)
  const parsed = await parser.parseRest()
  const scheduler = new CooperativeScheduler(deadline.signal)
  const namesAlias = await checkTagNames(parsed, limits.tagNames, scheduler)
  const { labels, unresolved } = await expandAliases(
    parsed,
    namesAlias ? historians.aliases : null,
    context,
    scheduler,
  )
  const trees: TagTree[] = []
  await forEach(labels, scheduler, (label) => {
    if (label.kind === 'parsed') trees.push(...treesOf(label))
  })
  const findTag = await resolveTags(trees, historians, context, unresolved)

  const source = new CallSource(historians, context, {
    points: FIXED_LIMITS.fetchedLoads.limit * limits.historianLoad,
    onExhausted,
  })
  const evaluation = new Evaluation({ source, signal: deadline.signal, onExhausted })
  const planning = { findTag, limits, evaluation, scheduler }
  const estimated = async (labels: readonly CallLabel[]) => {
    let plan = await planCall(labels, planning)
    // What is counted without a historian comes first; a load that cannot be over the limit is not worked out at all.
    let totals = await totalsOf(plan, { withLoad: false }, scheduler)
    let breaches = findBreaches(totals, limits)
    if (head.explain || (breaches.length === 0 && plan.reads.atMost() > limits.historianLoad)) {
      plan = withoutFailed(
        plan,
        await plan.reads.estimate(historians, limits.historianLoad + 1, context, scheduler),
      )
      totals = await totalsOf(plan, { withLoad: true }, scheduler)
      breaches = findBreaches(totals, limits)
    }
    return { plan, totals, breaches }
  }
  const wanted = await estimated(labels)
  const fallbacks = withFallbacks(labels, wanted.plan, wanted.breaches)
  const { plan, totals, breaches } = fallbacks === null ? wanted : await estimated(fallbacks)
  const reasons: Breach[] = []
  for (const breach of head.explain ? breaches : breaches.slice(0, 1))
    reasons.push(withRemedy(breach, await remedyOf(breach, { plan, totals, planning, historians, context })))
  if (head.explain)
    return explained(head, plan, await explainTexts(plan, { totals, limits, reasons }, scheduler))
  const [breach] = reasons
  if (breach !== undefined) return failed('limit', head, breach)
  source.keepsAll = plan.reads.areKept
  return { labels: await executableLabels(plan, scheduler), evaluation, scheduler, source, estimated }
}

function ofFast(head: CallHead, { labels, failed, statistics }: FastAnswer): MultiAnswer {
  const issues = failed.map(({ issue }) => issue)
  const causes = failed.map(({ cause }) => cause)
  return executed(head, statistics, labels, issues, causes)
}

/** @param issues of the invalid labels @param causes the errors behind them */
function executed(
  head: CallHead,
  statistics: ReadStatistics,
  results: readonly ExecutedLabel[],
  issues: readonly Issue[] = [],
  causes: readonly unknown[] = [],
): MultiAnswer {
  const damage = warnOfLeftOut(results, head.warnings)
  const parts = {
    results,
    issues,
    now: formatInstant(head.now, head.zone),
    warnings: head.warnings.list(),
    format: head.format,
  }
  return {
    outcome: 'executed',
    whole: () => pointsAnswer(parts),
    chunks: (pool) => answerChunks(parts, pool),
    labels: results.length + issues.length,
    invalidLabels: issues.length,
    statistics,
    failures: [...damage, ...causes.filter(isOurs)],
  }
}

/** Whether an error is the service's or a historian's, not the caller's. */
function isOurs(error: unknown): boolean {
  return !(error instanceof TidemarkError) || ['unavailable', 'corrupt', 'bug'].includes(error.kind)
}

/** The call as a whole is invalid: no label applies. Throws what is no fault of the caller. */
function refused(error: unknown): MultiAnswer {
  if (!(error instanceof TidemarkError) || error.kind === 'bug') throw error
  const issue = issueOf(error)
  const body = { message: issue.message, results: {}, errors: {}, issues: [issue] }
  return nothingRead('refused', [0, 0], () => [Buffer.from(JSON.stringify(body))])
}

/** The answer of a call past its deadline or its budget. Throws what ended it otherwise. */
function failedAsWhole(head: CallHead, error: unknown): MultiAnswer {
  if (error instanceof TidemarkError && (error.kind === 'deadline' || error.kind === 'limit'))
    return failed(error.kind, head, error)
  throw error
}

/** The same sentence under every label, and nothing else: a limit was breached or the deadline has passed. */
function failed(
  outcome: 'limit' | 'deadline',
  head: CallHead,
  { code, message }: { readonly code: Issue['code']; readonly message: string },
): MultiAnswer {
  const { length } = head.names
  return nothingRead(outcome, [length, length], (pool) => failedCallChunks(head, { code, message }, pool))
}

function explained(
  { now, zone, warnings }: CallHead,
  { labels }: Plan,
  texts: readonly string[],
): MultiAnswer {
  const issues = labels.flatMap((label) => (label.kind === 'invalid' ? [label.issue] : []))
  const parts = { issues, warnings: warnings.list(), now: formatInstant(now, zone) }
  return nothingRead('explained', [labels.length, issues.length], (pool) =>
    explanationChunks(parts, texts, pool),
  )
}

function nothingRead(
  outcome: MultiOutcome,
  [labels, invalidLabels]: readonly [number, number],
  chunks: MultiAnswer['chunks'],
): MultiAnswer {
  const statistics = { points: 0, historianCalls: 0 }
  return { outcome, chunks, labels, invalidLabels, statistics, failures: [] }
}

function withRemedy(breach: Breach, remedy: string): Breach {
  return { ...breach, message: `${breach.message}${remedy}` }
}
