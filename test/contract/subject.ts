import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { CallContext, Historian } from '../../src/historian/contract.ts'

/** A historian that the contract suite runs on. */
export interface Subject {
  /** Name of the kind, as in HISTORIANS=a,b; others are skipped. */
  readonly name: string
  start(): Promise<Running>
  /** Promises that this historian cannot keep. Each needs a reason, and fails once its test is gone or would pass. */
  readonly exceptions: readonly { readonly test: string; readonly reason: string }[]
}

/** A historian under test, empty at first and used by all tests of the suite one after the other. */
export interface Running {
  readonly historian: Historian
  /** Ends the historian, as a service does, and opens it anew; left out where nothing outlives it. */
  reopen?(): Promise<Historian>
  /**
   * Has the historian move what it keeps to where it belongs, which otherwise happens by and by; left out where there
   * is no such thing.
   */
  flush?(): Promise<void>
  stop(): Promise<void>
}

/** What a test gets. */
export interface Bench {
  /** The historian as it is open now. */
  readonly historian: Historian
  /** See Running; `null` where it cannot. */
  readonly reopen: (() => Promise<void>) | null
  /** See Running; `null` where it cannot. */
  readonly flush: (() => Promise<void>) | null
  readonly context: CallContext
  /** A tag name that no other test uses. */
  tag(suffix?: string): string
}

/** Longest gaps of signals, in microseconds, that a promise is tried with; others with CONTRACT_GAPS=50,100. */
export const gapsOf = (...gaps: readonly number[]): readonly number[] =>
  process.env.CONTRACT_GAPS?.split(',').map(Number) ?? gaps

export type Promised = (title: string, check: (bench: Bench) => Promise<void>) => void

/** Declares a suite: `declare` states its promises one by one. */
export function suite(subject: Subject, title: string, declare: (promised: Promised) => void): void {
  const chosen = process.env.HISTORIANS?.split(',')
  const skip = chosen !== undefined && !chosen.includes(subject.name)
  describe(`${subject.name}: ${title}`, { skip: skip ? `not in HISTORIANS` : false }, () => {
    let running: Running
    let historian: Historian
    let tags = 0
    before(async () => {
      running = await subject.start()
      historian = running.historian
    })
    after(() => running.stop())

    const bench: Bench = {
      get historian() {
        return historian
      },
      get reopen() {
        if (running.reopen === undefined) return null
        return async () => {
          historian = await running.reopen!()
        }
      },
      get flush() {
        return running.flush === undefined ? null : () => running.flush!()
      },
      context: { signal: new AbortController().signal },
      tag: (suffix = '') => `t${++tags}${suffix}`,
    }
    declare((title_, check) => {
      const exception = subject.exceptions.find((one) => one.test === title_)
      if (exception === undefined) test(title_, () => check(bench))
      else {
        test(`${title_} (not here: ${exception.reason})`, () =>
          assert.rejects(check(bench), 'the exception is not needed any more'))
      }
      declared.add(`${subject.name}: ${title_}`)
    })
  })
}

const declared = new Set<string>()

/** Fails for exceptions whose test is gone; called after all suites of a subject were declared. */
export function checkExceptions(subject: Subject): void {
  test(`${subject.name}: exceptions name tests that exist`, () => {
    for (const exception of subject.exceptions) {
      assert.ok(declared.has(`${subject.name}: ${exception.test}`), exception.test)
    }
  })
}
