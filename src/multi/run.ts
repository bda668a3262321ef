import { SIGNATURES } from '../calc/functions/index.ts'
import { type Issue, issueOf, TidemarkError } from '../errors/tidemark-error.ts'
import type { TagTree } from '../grammar/tree.ts'
import { Breather } from '../historian/breather.ts'
import type { CallContext } from '../historian/contract.ts'
import { Deadline } from '../historian/deadline.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import { formatInstant } from '../time/format.ts'
import { answerPieces, pointsAnswer } from './answer.ts'
import type { CallHead, MultiCall, ParsedCall, ParsedLabel, WrongLabel } from './call.ts'
import { type ExecutedLabel, executeLabels } from './execute-labels.ts'
import { type ExpandedCall, expandAliases } from './expand.ts'
import { explainText } from './explain.ts'
import { type CallTotals, findBreaches } from './limit.ts'
import { parseHead, parseLabels } from './parse.ts'
import { type Plan, planCall, plannedLabels, totalsOf } from './plan.ts'
import { type ResolvedTags, resolveTags } from './resolve.ts'
import type { Sheets } from './sheets.ts'
import { CallSource, type ReadStatistics } from './source.ts'

/** How a call ended; src/http makes the status of it. */
export type MultiOutcome = 'executed' | 'explained' | 'refused' | 'limit' | 'deadline'

export interface MultiAnswer {
  readonly outcome: MultiOutcome
  /** The JSON of a small answer in one piece, to be taken in place of the pieces; `null` for any other. */
  whole?(): string | Uint8Array | null
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
    const answer = new Run(head, call, deadline, options.seriesOnly ?? false).answer()
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

/**
 * The stages of a call, one after the other: each goes on with the next one, at once or when what it waits for is there. Methods that
 * call each other, and no async function, so that nothing waits where there is nothing to wait for.
 */
class Run {
  readonly #head: CallHead
  readonly #call: MultiCall
  readonly #signal: AbortSignal
  readonly #context: CallContext
  readonly #breather: Breather
  readonly #source: CallSource
  readonly #seriesOnly: boolean

  constructor(head: CallHead, call: MultiCall, deadline: Deadline, seriesOnly: boolean) {
    this.#head = head
    this.#call = call
    this.#signal = deadline.signal
    this.#context = { signal: deadline.signal }
    this.#breather = new Breather(deadline.signal, deadline.began)
    this.#source = new CallSource(call.historians, this.#context)
    this.#seriesOnly = seriesOnly
  }

  answer(): MaybePromise<MultiAnswer> {
    const { defaultHistorian, limits } = this.#call
    const crowd = findBreaches(fewestTotals(this.#head), limits)[0]
    if (crowd !== undefined) return wholeCallFailed('limit', this.#head, crowd)
    const labels = parseLabels(this.#head, defaultHistorian, SIGNATURES, this.#breather)
    return labels instanceof Promise ? labels.then((read) => this.#expand(read)) : this.#expand(labels)
  }

  #expand(labels: readonly ParsedLabel[]): MaybePromise<MultiAnswer> {
    const expanded = expandAliases({ ...this.#head, labels }, this.#call.historians.aliases)
    return expanded instanceof Promise
      ? expanded.then((call) => this.#resolve(call))
      : this.#resolve(expanded)
  }

  #resolve({ parsed, unresolved }: ExpandedCall): MaybePromise<MultiAnswer> {
    const trees: TagTree[] = []
    for (const label of parsed.labels) if (label.kind === 'understood') trees.push(label.tree)
    const tags = resolveTags(trees, this.#call.historians, this.#context, unresolved)
    return tags instanceof Promise
      ? tags.then((found) => this.#plan(parsed, found))
      : this.#plan(parsed, tags)
  }

  #plan(parsed: ParsedCall, tags: ResolvedTags): MaybePromise<MultiAnswer> {
    const plan = planCall(parsed.labels, {
      tags,
      source: this.#source,
      limits: this.#call.limits,
      breather: this.#breather,
      signal: this.#signal,
      seriesOnly: this.#seriesOnly,
    })
    return plan instanceof Promise
      ? plan.then((planned) => this.#limit(parsed, planned))
      : this.#limit(parsed, plan)
  }

  #limit(parsed: ParsedCall, plan: Plan): MaybePromise<MultiAnswer> {
    const { limits } = this.#call
    // What is counted without asking comes first; a load that cannot be over the limit is not worked out at all.
    const totals = totalsOf(plan, { withLoad: false })
    const breaches = findBreaches(totals, limits)
    if (parsed.explain || (breaches.length === 0 && plan.ledger.atMost() > limits.historianLoad)) {
      return this.#price(parsed, plan)
    }
    const breach = breaches[0]
    return breach === undefined ? this.#execute(parsed, plan) : wholeCallFailed('limit', parsed, breach)
  }

  async #price(parsed: ParsedCall, unpriced: Plan): Promise<MultiAnswer> {
    const { historians, limits } = this.#call
    const failures = await unpriced.ledger.price(historians, limits.historianLoad + 1, this.#context)
    const plan = withoutFailed(unpriced, failures, this.#signal)
    const totals = totalsOf(plan, { withLoad: true })
    const breaches = findBreaches(totals, limits)
    if (parsed.explain) return explanation(parsed, plan, explainText(parsed, plan, totals, limits, breaches))
    const breach = breaches[0]
    return breach === undefined ? this.#execute(parsed, plan) : wholeCallFailed('limit', parsed, breach)
  }

  #execute(parsed: ParsedCall, plan: Plan): MaybePromise<MultiAnswer> {
    const source = this.#source
    const outcomes = executeLabels(plan, source, this.#signal)
    return outcomes instanceof Promise
      ? outcomes.then((done) => executed(parsed, done, source.statistics))
      : executed(parsed, outcomes, source.statistics)
  }
}

/** Each label requests at least one point: millions of them are refused unread, whatever they hold. */
function fewestTotals({ requests }: CallHead): CallTotals {
  return { requestedPoints: requests.length, effectiveTags: 0, aggregateWindows: 0, load: null }
}

function executed(
  parsed: ParsedCall,
  outcomes: readonly (ExecutedLabel | WrongLabel)[],
  statistics: ReadStatistics,
): MultiAnswer {
  const { results, wrong } = sorted(outcomes)
  const issues = wrong.length === 0 ? NONE : wrong.map((label) => label.issue)
  const { format } = parsed
  const warnings = parsed.warnings.list()
  const now = formatInstant(parsed.now, parsed.zone)
  return {
    outcome: 'executed',
    whole: () => pointsAnswer({ results, issues, now, warnings, message: null, format }),
    pieces: (sheets) => answerPieces({ results, issues, now, warnings, message: null, format }, sheets),
    labels: parsed.labels.length,
    wrongLabels: issues.length,
    statistics,
    failures: wrong.length === 0 ? NONE : wrong.flatMap(({ cause }) => (isOurs(cause) ? [cause] : [])),
  }
}

const NONE: readonly never[] = []

/** Labels with results and wrong ones, each in their order. */
function sorted(outcomes: readonly (ExecutedLabel | WrongLabel)[]): {
  readonly results: readonly ExecutedLabel[]
  readonly wrong: readonly WrongLabel[]
} {
  if (areExecuted(outcomes)) return { results: outcomes, wrong: NONE }
  const results: ExecutedLabel[] = []
  const wrong: WrongLabel[] = []
  for (const outcome of outcomes) {
    if ('issue' in outcome) wrong.push(outcome)
    else results.push(outcome)
  }
  return { results, wrong }
}

/** Whether no label is wrong, as in most calls. */
function areExecuted(
  outcomes: readonly (ExecutedLabel | WrongLabel)[],
): outcomes is readonly ExecutedLabel[] {
  for (const outcome of outcomes) if ('issue' in outcome) return false
  return true
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
