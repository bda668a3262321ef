import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SIGNATURES } from '../../src/calc/functions/index.ts'
import { Evaluation } from '../../src/calc/graph/evaluation.ts'
import { Graph } from '../../src/calc/graph/graph.ts'
import type { Operator } from '../../src/calc/graph/operator.ts'
import { parseTag } from '../../src/grammar/parser.ts'
import { printTag } from '../../src/grammar/print.ts'
import type { Historian } from '../../src/historian/contract.ts'
import { Deadline } from '../../src/historian/deadline.ts'
import { HistorianRegistry } from '../../src/historian/registry.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { answerChunks } from '../../src/multi/answer.ts'
import type { MultiCall } from '../../src/multi/call.ts'
import { LabelParser, parseHead } from '../../src/multi/parse.ts'
import { namedStates, operatorContext } from '../../src/multi/plan.ts'
import { resolveTags } from '../../src/multi/resolve.ts'
import { runMulti } from '../../src/multi/run.ts'
import { CallSource } from '../../src/multi/source.ts'
import { makeColumns, STATUS_BAD, STATUS_OK } from '../../src/series/columns.ts'
import { UTC } from '../../src/time/zone.ts'
import { READ_KEY, testService } from '../http/service.ts'
import { LIMITS } from '../multi-harness.ts'
import { assertAnswer, assertPoints, type Json } from './answers.ts'
import { type GoldenCase, type GoldenFile, type GoldenRead, parseGolden, timeText } from './format.ts'

const folder = import.meta.dirname

/** A kind of historian that the golden files are worked out on. */
export interface GoldenSubject {
  /** Name of the kind, as in HISTORIANS=a,b; others are skipped. */
  readonly name: string
  /** A reason, where what it needs is not installed. */
  readonly skip?: string | false
  /**
   * The ways in which reads are asked. `every`, when left out: all reads of a case in one call, raw points by their
   * cursors, then each read by itself: in pages of one point, reprinted and through HTTP, and its plan. `pages`:
   * without the last three, which ask the historian the same as the first: where it is another process. `cursor`:
   * without pages of one point, too: where each statement takes long.
   */
  readonly ways?: 'every' | 'pages' | 'cursor'
  /** Of so many files in a row one, where a statement takes very long; all with GOLDEN_FILES=all. 1 when left out. */
  readonly oneOf?: number
  start(): Promise<GoldenHistorians>
}

export interface GoldenHistorians {
  /** An empty historian with this name; asked once for each file, after the one before is done with. */
  empty(name: string): Promise<Historian>
  stop(): Promise<void>
}

/** Every case of every golden file, with its tags in historians of this kind. */
export function goldenSuite(subject: GoldenSubject): void {
  const chosen = process.env.HISTORIANS?.split(',')
  const isLeftOut = chosen !== undefined && !chosen.includes(subject.name)
  const skip = isLeftOut ? 'not in HISTORIANS' : (subject.skip ?? false)
  describe(`golden files: ${subject.name}`, { skip }, () => {
    let running: GoldenHistorians
    before(async () => {
      running = await subject.start()
    })
    after(() => running.stop())
    const stride = process.env.GOLDEN_FILES === 'all' ? 1 : (subject.oneOf ?? 1)
    for (const [i, name] of globSync('*.calc', { cwd: folder }).sort().entries()) {
      if (i % stride === 0) declareFile(name, subject, () => running)
    }
  })
}

function declareFile(name: string, subject: GoldenSubject, running: () => GoldenHistorians): void {
  const file = parseGolden(readFileSync(join(folder, name), 'utf8'))
  const places = [...new Set(file.tags.map((tag) => tag.historian))].map((historian) => new Place(historian))
  const historians = places.map((place) => place.historian)
  describe(name, () => {
    const service = testService({ historians })
    before(async () => {
      for (const place of places) place.taken = await running().empty(place.name)
      await fill(historians, file)
    })
    const ways = subject.ways ?? 'every'
    const checkOtherWays = async (read: GoldenRead, one: GoldenCase) => {
      if (ways === 'cursor') return
      await check(read, one, (body) => withPagesOfOnePoint(historians, body, one))
      if (ways === 'pages') return
      await check({ ...read, tag: reprinted(read.tag, one) }, one, (body) =>
        throughMulti(historians, body, one),
      )
      await check(read, one, async (body) => {
        const answer = await service.app.inject({
          method: 'POST',
          url: '/historian/multi',
          headers: { 'x-api-key': READ_KEY },
          payload: body,
        })
        return answer.json()
      })
    }
    test('says who worked out its numbers', () => assert.notEqual(file.source, ''))
    for (const one of file.cases) {
      test(`${one.title} (line ${one.line})`, async () => {
        assert.ok(one.reads.length > 0, 'a case reads something')
        await checkTogether(one, historians)
        await checkPaged(one, historians)
        for (const read of one.reads) {
          await checkOtherWays(read, one)
          if (ways !== 'every') continue
          // What a call loads exactly is another number where the historian computes.
          const plan =
            subject.name === 'memory' ? read.plan : read.plan.filter((line) => line.name !== 'load')
          await checkPlan({ ...read, plan }, one, historians)
        }
      })
    }
  })
}

/** Stands for a historian that is opened later; it is not closed with the service that has it. */
class Place {
  readonly name: string
  readonly historian: Historian
  taken: Historian | null = null

  constructor(name: string) {
    this.name = name
    this.historian = new Proxy({} as Historian, {
      get: (_, field) => {
        if (field === 'name') return name
        if (field === 'close') return async () => {}
        const value: unknown = Reflect.get(this.taken!, field, this.taken)
        return typeof value === 'function' ? value.bind(this.taken) : value
      },
    })
  }
}

/** All reads of a case as labels of one call; those that fail may fail a call as a whole, and are asked alone. */
async function checkTogether(one: GoldenCase, historians: readonly Historian[]): Promise<void> {
  const isFailing = ({ expected }: GoldenRead) => expected.kind === 'fails'
  for (const read of one.reads.filter(isFailing)) {
    await check(read, one, (body) => throughMulti(historians, body, one))
  }
  const others = one.reads.filter((read) => !isFailing(read))
  const answers = await askTogether(others, one, historians)
  for (const [i, read] of others.entries()) checkAnswer(read, answers[i])
}

/** The answers of reads that are labels of one call, each as if it were alone. */
async function askTogether(
  reads: readonly (GoldenRead & { readonly more?: object })[],
  one: GoldenCase,
  historians: readonly Historian[],
): Promise<readonly Json[]> {
  if (reads.length === 0) return []
  const requests = Object.fromEntries(reads.map((read, i) => [`r${i}`, requestOf(read, read.more)]))
  const { results, errors, next } = await throughMulti(historians, { ...headOf(one), requests }, one)
  const only = (of: Json, label: string) => (of?.[label] === undefined ? {} : { a: of[label] })
  return reads.map((_, i) => {
    const label = `r${i}`
    return { results: only(results, label), errors: only(errors, label), next: only(next, label) }
  })
}

async function check(read: GoldenRead, one: GoldenCase, ask: (body: object) => Promise<Json>): Promise<void> {
  checkAnswer(read, await ask(bodyOf(read, one)))
}

function checkAnswer(read: GoldenRead, answer: Json): void {
  try {
    assertAnswer(read, answer)
  } catch (error) {
    if (error instanceof Error)
      error.message = `line ${read.line}: ${error.message}\n${JSON.stringify(answer)}`
    throw error
  }
}

function bodyOf(read: GoldenRead, one: GoldenCase): object {
  return { ...headOf(one), requests: { a: requestOf(read) } }
}

function headOf(one: GoldenCase): object {
  return { now: timeText(one.now), timeZone: one.zone.id }
}

function requestOf(read: GoldenRead, more: object = {}): object {
  return { type: read.type, tag: read.tag, details: { ...read.details, ...more } }
}

/** Raw points once more page by page, each of one point, by their cursors: the next pages of all reads in one call. */
async function checkPaged(one: GoldenCase, historians: readonly Historian[]): Promise<void> {
  const whole = one.reads.filter(
    ({ type, expected }) => type === 'RAW_POINTS' && expected.kind === 'points' && !expected.truncated,
  )
  let open = whole.map((read) => ({ ...read, more: { maxPoints: 1 } as object, points: [] as Json[] }))
  while (open.length > 0) {
    const answers = await askTogether(open, one, historians)
    open = open.filter((read, i) => {
      const { results, errors, next } = answers[i]
      assert.deepEqual(errors, {})
      read.points.push(...results.a.dataPoints)
      read.more = { maxPoints: 1, cursor: next.a }
      const { points } = read.expected as Extract<GoldenRead['expected'], { kind: 'points' }>
      assert.ok(read.points.length <= points.length, 'pages end')
      if (next.a !== undefined) return true
      assertPoints(read.points, points, read.within)
      return false
    })
  }
}

async function checkPlan(read: GoldenRead, one: GoldenCase, historians: readonly Historian[]): Promise<void> {
  if (read.plan.length === 0) return
  const body = { ...bodyOf(read, one), explain: true }
  const { explain }: Json = await throughMulti(historians, body, one)
  for (const { name, operator, value } of read.plan) {
    const found = explain.totals[name]
    assert.equal(typeof found, 'number', `${name} is planned`)
    const holds = operator === '=' ? found === value : found <= value
    assert.ok(holds, `line ${read.line}: ${name} is ${found}, not ${operator} ${value}`)
  }
}

function callOf(historians: readonly Historian[], one: GoldenCase): MultiCall {
  return {
    historians: new HistorianRegistry(historians),
    limits: LIMITS,
    defaultZone: UTC,
    defaultHistorian: null,
    now: one.now,
    signal: new AbortController().signal,
  }
}

async function throughMulti(historians: readonly Historian[], body: object, one: GoldenCase): Promise<Json> {
  const answer = await runMulti(body, callOf(historians, one))
  return JSON.parse(Buffer.concat([...answer.chunks()]).toString())
}

/** The same without plan and limits, and with streams that read a single point at a time. */
async function withPagesOfOnePoint(
  historians: readonly Historian[],
  body: object,
  one: GoldenCase,
): Promise<Json> {
  const { signal } = new AbortController()
  const call = callOf(historians, one)
  const deadline = new Deadline(signal, LIMITS.deadlineSeconds)
  const { head, requests } = parseHead(body, call)
  const [label] = await new LabelParser(head, requests, null, SIGNATURES, deadline).parseRest()
  if (label?.kind !== 'parsed') return throughMulti(historians, body, one)
  const { tree, request, now, zone, address } = label
  const findTag = await resolveTags([tree], call.historians, { signal }, new Map())
  const source = new CallSource(call.historians, { signal })
  const evaluation = new Evaluation({ source, pagePoints: 1 })
  let operator: Operator
  try {
    operator = new Graph(findTag).build(tree, operatorContext(label, evaluation))
  } catch {
    return throughMulti(historians, body, one)
  }
  const result = await request.answer(operator, {
    evaluation,
    grids: new Map(),
    zone,
    now,
    states: namedStates(tree, operator),
    other: null,
    otherStates: null,
  })
  const parts = {
    results: [{ parsed: { label: 'a', address, now, zone }, result }],
    issues: [],
    now: '',
    warnings: [],
    format: 'points',
  } as const
  const chunks = answerChunks(parts)
  return JSON.parse(Buffer.concat([...chunks]).toString())
}

/** The tag printed from its tree; as it is where it does not parse. */
function reprinted(tag: string, { now, zone }: GoldenCase): string {
  try {
    return printTag(parseTag(tag, { signatures: SIGNATURES, defaultHistorian: null, now, zone }))
  } catch {
    return tag
  }
}

async function fill(historians: readonly Historian[], file: GoldenFile): Promise<void> {
  const context = { signal: new AbortController().signal }
  for (const { historian: name, name: tag, stepped, maxGap, states, points } of file.tags) {
    const historian = historians.find((one) => one.name === name)!
    const metadata = { description: null, units: null, stepped, maxGap, states }
    await historian.putTags([{ name: tag, metadata }], 'create', context)
    const columns = makeColumns(points.length)
    points.forEach(({ time, value, bad }, i) => {
      assert.ok(value !== null, `${tag} has a value at ${timeText(time)}`)
      columns.times[i] = time
      columns.values[i] = value
      columns.statuses[i] = bad ? STATUS_BAD : STATUS_OK
    })
    await historian.write(writeBatch([{ tag, points: columns }], false), context)
  }
}
