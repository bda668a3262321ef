import { SIGNATURES } from '../calc/functions/index.ts'
import { type Issue, issueOf, TidemarkError } from '../errors/tidemark-error.ts'
import type { TagTree } from '../grammar/tree.ts'
import { Breather } from '../historian/breather.ts'
import { Deadline } from '../historian/deadline.ts'
import { type MaybePromise, resultOf, type Steps, walk } from '../historian/steps.ts'
import { formatInstant } from '../time/format.ts'
import { answerPieces, pointsAnswer } from './answer.ts'
import type { PointAnswer } from './asked-point.ts'
import type { CallHead, MultiCall, ParsedCall, UnderstoodLabel, WrongLabel } from './call.ts'
import { executeRequest, noPoint, type Result } from './execute.ts'
import { expandAliases } from './expand.ts'
import { explainText } from './explain.ts'
import { Grids } from './grids.ts'
import { type CallTotals, findBreaches } from './limit.ts'
import { parseHead, parseLabels } from './parse.ts'
import { type Plan, type PointLabel, planCall, plannedLabels, type SeriesLabel, totalsOf } from './plan.ts'
import { resolveTags } from './resolve.ts'
import type { Sheets } from './sheets.ts'
import { CallSource, type ReadStatistics } from './source.ts'

/** How a call ended; src/http makes the status of it. */
export type MultiOutcome = 'executed' | 'explained' | 'refused' | 'limit' | 'deadline'

export interface MultiAnswer {
  readonly outcome: MultiOutcome
  /**
   * The JSON of the answer, UTF-8, in pieces of up to some 160 KB; to be taken once.
   * @param sheets what large pieces are written on, for those who give them back; left out it is new memory
   */
  pieces(sheets?: Sheets): Iterable<Uint8Array>
  readonly labels: number
  readonly wrongLabels: number
  readonly statistics: ReadStatistics
  /** What failed for a reason that is not the caller's, for the log. */
  readonly failures: readonly unknown[]
}

export interface ExecutedLabel {
  readonly understood: Pick<UnderstoodLabel, 'label' | 'address' | 'now' | 'zone'>
  readonly result: Result
}

/**
 * Answers a multi call: parse, replace aliases, resolve the tags, plan, check the limits, execute, all under one deadline. A call for
 * which nothing has to be waited for is answered at once.
 * Throws or rejects only when the call was cancelled; everything else is an answer.
 * @param options.seriesOnly  every label goes the long way; the answer is the same
 */
export function runMulti(
  body: unknown,
  call: MultiCall,
  options: { readonly seriesOnly?: boolean } = {},
): MaybePromise<MultiAnswer> {
  let head: CallHead
  try {
    head = parseHead(body, call)
  } catch (error) {
    return refusal(error)
  }
  const deadline = new Deadline(call.signal, call.limits.deadlineSeconds)
  try {
    const answer = walk(runHead(head, call, deadline, options.seriesOnly ?? false))
    if (answer instanceof Promise) return answerInTime(answer, head, deadline)
    deadline.check()
    return answer
  } catch (error) {
    return failedAsWhole(head, error)
  }
}

async function answerInTime(
  work: Promise<MultiAnswer>,
  head: CallHead,
  deadline: Deadline,
): Promise<MultiAnswer> {
  try {
    // An answer must not wait for a driver that does not end with its signal.
    const answer = await deadline.race(work)
    deadline.check()
    return answer
  } catch (error) {
    return failedAsWhole(head, error)
  } finally {
    deadline.done()
  }
}

/** The answer of a call past its deadline. Throws what ended it otherwise. */
function failedAsWhole(head: CallHead, error: unknown): MultiAnswer {
  if (error instanceof TidemarkError && error.kind === 'deadline')
    return wholeCallFailed('deadline', head, error)
  throw error
}

function* runHead(
  head: CallHead,
  call: MultiCall,
  deadline: Deadline,
  seriesOnly: boolean,
): Steps<MultiAnswer> {
  const { signal } = deadline
  const context = { signal }
  const { historians, limits, defaultHistorian } = call
  const crowd = findBreaches(fewestTotals(head), limits)[0]
  if (crowd !== undefined) return wholeCallFailed('limit', head, crowd)
  const breather = new Breather(signal, deadline.began)
  const understood = yield* parseLabels(head, defaultHistorian, SIGNATURES, breather)
  const { parsed, unresolved } = yield* expandAliases({ ...head, labels: understood }, historians.aliases)
  const trees: TagTree[] = []
  for (const label of parsed.labels) if (label.kind === 'understood') trees.push(label.tree)
  const tags = yield* resolveTags(trees, historians, context, unresolved)
  const source = new CallSource(historians, context)
  let plan = yield* planCall(parsed.labels, { tags, source, limits, breather, signal, seriesOnly })

  // What is counted without asking comes first; a load that cannot be over the limit is not worked out at all.
  const needed = totalsOf(plan, { withLoad: false })
  const cheap = findBreaches(needed, limits)
  let totals = needed
  if (parsed.explain || plan.ledger.atMost() > limits.historianLoad) {
    if (parsed.explain || cheap.length === 0) {
      const pricing = plan.ledger.price(historians, limits.historianLoad + 1, context)
      plan = withoutFailed(plan, yield* resultOf(pricing), signal)
    }
    totals = totalsOf(plan, { withLoad: parsed.explain || cheap.length === 0 })
  }
  const breaches = totals === needed ? cheap : findBreaches(totals, limits)
  if (parsed.explain) return explanation(parsed, plan, explainText(parsed, plan, totals, limits, breaches))
  const breach = breaches[0]
  if (breach !== undefined) return wholeCallFailed('limit', parsed, breach)

  return yield* executePlan(parsed, plan, source, signal)
}

/** Each label requests at least one point: millions of them are refused unread, whatever they hold. */
function fewestTotals({ requests }: CallHead): CallTotals {
  return { requestedPoints: requests.length, effectiveTags: 0, aggregateWindows: 0, load: null }
}

function* executePlan(
  parsed: ParsedCall,
  plan: Plan,
  source: CallSource,
  signal: AbortSignal,
): Steps<MultiAnswer> {
  const outcomes = yield* executeLabels(plan, source, signal)
  const results: ExecutedLabel[] = []
  const wrong: WrongLabel[] = []
  for (const outcome of outcomes) {
    if ('issue' in outcome) wrong.push(outcome)
    else results.push(outcome)
  }
  const issues = wrong.map((label) => label.issue)
  const { format } = parsed
  const warnings = parsed.warnings.list()
  const now = formatInstant(parsed.now, parsed.zone)
  return {
    outcome: 'executed',
    pieces: (sheets) => {
      const parts = { results, issues, now, warnings, message: null, format }
      const whole = pointsAnswer(parts)
      return whole === null ? answerPieces(parts, sheets) : [whole]
    },
    labels: parsed.labels.length,
    wrongLabels: issues.length,
    statistics: source.statistics,
    failures: wrong.flatMap(({ cause }) => (isOurs(cause) ? [cause] : [])),
  }
}

/** What came of each label, in their order. */
function* executeLabels(
  { labels, ledger }: Plan,
  source: CallSource,
  signal: AbortSignal,
): Steps<readonly (ExecutedLabel | WrongLabel)[]> {
  const points = labels.filter((label) => label.kind === 'point')
  // Each of them planned one read; with other labels beside them, also wrong ones, the numbers would not say the same.
  if (points.length === labels.length && ledger.countReads() === labels.length) {
    const answers = yield* resultOf(source.allPoints(points))
    return points.map((label, i) => pointOutcome(label, answers[i]!, signal))
  }
  const series = labels.filter((label) => label.kind === 'series')
  const pointsTold = points.length === 0 ? NO_ANSWERS : source.points(points)
  const grids = new Grids()
  const ofSeries =
    series.length === 0
      ? NO_OUTCOMES
      : yield* resultOf(Promise.all(series.map((label) => executeLabel(label, grids, signal))))
  const answers = yield* resultOf(pointsTold)
  let point = 0
  let one = 0
  return labels.map((label) => {
    if (label.kind === 'wrong') return label
    return label.kind === 'series' ? ofSeries[one++]! : pointOutcome(label, answers[point++]!, signal)
  })
}

const NO_OUTCOMES: readonly (ExecutedLabel | WrongLabel)[] = []
const NO_ANSWERS: readonly PointAnswer[] = []

function pointOutcome(
  { understood, request }: PointLabel,
  { point, failure }: PointAnswer,
  signal: AbortSignal,
): ExecutedLabel | WrongLabel {
  if (failure !== null) return failed(understood, failure.error, signal)
  return { understood, result: { kind: 'point', point: point ?? noPoint(request.at) } }
}

async function executeLabel(
  { understood, series }: SeriesLabel,
  grids: Grids,
  signal: AbortSignal,
): Promise<ExecutedLabel | WrongLabel> {
  try {
    return { understood, result: await executeRequest(understood.request, series, grids, understood.zone) }
  } catch (error) {
    return failed(understood, error, signal)
  }
}

/** A label that could not be read. Throws past the deadline: no label has then failed by itself, the whole call has. */
function failed({ label, address }: UnderstoodLabel, error: unknown, signal: AbortSignal): WrongLabel {
  if (signal.aborted) throw signal.reason
  return { kind: 'wrong', label, issue: issueOf(error, { label, tag: address }), cause: error }
}

/** Whether an error is the service's or a historian's, not the caller's. */
function isOurs(error: unknown): boolean {
  return !(error instanceof TidemarkError) || ['unavailable', 'corrupt', 'bug'].includes(error.kind)
}

/** Labels whose historian could not say what they would cost fail with its error. */
function withoutFailed(plan: Plan, failures: ReadonlyMap<string, unknown>, signal: AbortSignal): Plan {
  if (signal.aborted) throw signal.reason
  if (failures.size === 0) return plan
  const labels = plan.labels.map((label) => {
    if (label.kind === 'wrong') return label
    const historian = label.ledger.historianAmong(failures)
    if (historian === null) return label
    const place = { label: label.understood.label, tag: label.understood.address }
    const cause = failures.get(historian)
    return { kind: 'wrong', label: place.label, issue: issueOf(cause, place), cause } as const
  })
  return { ...plan, labels }
}

const NOTHING_READ: ReadStatistics = { points: 0, historianCalls: 0 }

/** The call as a whole is not understood: no label applies. */
function refusal(error: unknown): MultiAnswer {
  const { message } = issueOf(error)
  return {
    outcome: 'refused',
    pieces: () => [Buffer.from(JSON.stringify({ message, results: {}, errors: {} }))],
    labels: 0,
    wrongLabels: 0,
    statistics: NOTHING_READ,
    failures: [],
  }
}

/** The same sentence under every label, and nothing else: a limit was breached or the deadline has passed. */
function wholeCallFailed(
  outcome: 'limit' | 'deadline',
  head: CallHead,
  reason: { readonly code: Issue['code']; readonly message: string },
): MultiAnswer {
  const { code, message } = reason
  const issues = head.requests.map(([label]) => ({ code, message, label }))
  const { format } = head
  const warnings = head.warnings.list()
  const now = formatInstant(head.now, head.zone)
  return {
    outcome,
    pieces: (sheets) => answerPieces({ results: [], issues, now, warnings, message, format }, sheets),
    labels: issues.length,
    wrongLabels: issues.length,
    statistics: NOTHING_READ,
    failures: [],
  }
}

function explanation(parsed: ParsedCall, plan: Plan, text: string): MultiAnswer {
  return {
    outcome: 'explained',
    pieces: () => [Buffer.from(text)],
    labels: parsed.labels.length,
    wrongLabels: parsed.labels.length - plannedLabels(plan).length,
    statistics: NOTHING_READ,
    failures: [],
  }
}
