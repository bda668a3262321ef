import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { CallContext, Historian, TagRange } from '../../src/historian/contract.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { applyAll, CHANGE_CODES, WRITE_CODES } from '../../src/write/apply.ts'
import { EVER, points } from '../contract/points.ts'
import { type Fault, FaultyProxy } from '../servers/faulty-proxy.ts'
import { untilDone } from '../until.ts'

/** A real server whose driver is asked whether it tells the truth. */
export interface OutcomeSubject {
  /** TCP port of the server. */
  readonly port: number
  /** Opens a historian that finds its server at this port. @param seconds time limit of a call */
  open(port: number, seconds: number): Promise<Historian>
  /** Whether a write that was cut off is sent again until it is answered; it is then told as done. */
  readonly isSentAgain?: boolean
  /** Bytes from one place at which a change meets a fault to the next, but near its end; 1 when left out. */
  readonly strides?: {
    /** For writes that are cut off or delayed. */
    readonly write?: number
    /** For deletes that are cut off. */
    readonly delete?: number
    /** For writes that are held, each of which takes seconds. */
    readonly hold?: number
  }
  stop(): Promise<void>
}

const context: CallContext = { signal: new AbortController().signal }
const TAG = 'truth'
/** Changes under way at the same time, each through a proxy of its own; those that are held only wait. */
const LANES = { cut: 12, hold: 24, split: 8 }
/** Longer than a write takes, so that what is not held is made; what is held costs that much for each byte. */
const HOLD_SECONDS = 0.4
const LONG_SECONDS = 30
/** Time limit of a write that is sent twice and may be locked out by its copy. */
const TWICE_SECONDS = 5
/** Changes that may fail before a fault is met, each with so many times the time of the one before. */
const MOST_MISSES = 5
const PATIENCE = 3
/** Bytes before and after the end of a change each of which is a place: a commit, and its answer. */
const EDGE_BYTES = 40
/** Until what arrived late is stored, or never will be. */
const SETTLE_MS = 1_000

/** One kind of change, made of one point at a time. */
interface Change {
  /** Of the tests that cut it in each direction. */
  readonly titles: Readonly<Record<Fault['direction'], string>>
  readonly codes: typeof WRITE_CODES | typeof CHANGE_CODES
  /** Whether the point is stored once the change is done. */
  readonly isStoredAfter: boolean
  /** What is stored before the fault, past the proxy. */
  prepare(direct: Historian, time: number): Promise<void>
  make(historian: Historian, time: number): Promise<void>
}

const WRITE: Change = {
  titles: {
    request: 'a write cut after every byte of the request',
    answer: 'a write cut after every byte of the answer',
  },
  codes: WRITE_CODES,
  isStoredAfter: true,
  prepare: async () => {},
  make: write,
}
const DELETE: Change = {
  titles: {
    request: 'a delete cut after every byte of the request',
    answer: 'a delete cut after every byte of the answer',
  },
  codes: CHANGE_CODES,
  isStoredAfter: false,
  prepare: write,
  async make(historian, time) {
    const range = { tag: TAG, from: time, to: time + 1 } as TagRange
    await historian.deletePoints!([range], false, context)
  },
}

/** What was reported of a change of one point. */
interface Told {
  readonly fault: Fault
  /** Code of the answer, and its sentence. */
  readonly code: string
  readonly message: string
}

/**
 * The promise behind every answer to a change: what is reported is what is stored. Writes and deletes one point at a
 * time while a proxy interrupts the conversation with the server after every byte of it, or each few and every one near
 * its end, both ways, and compares.
 */
export function outcomePromises(
  name: string,
  start: () => Promise<OutcomeSubject>,
  skip: string | false,
): void {
  describe(`what is told of a change through ${name} is what is stored, however the conversation ends`, {
    skip,
  }, () => {
    let subject: OutcomeSubject
    let direct: Historian
    before(async () => {
      subject = await start()
      direct = await subject.open(subject.port, LONG_SECONDS)
      await write(direct, 0)
    })
    after(async () => {
      await direct.close()
      await subject.stop()
    })
    /** Times of the points that were written: each test has its own. */
    let nextTime = 1

    /** Bytes from one place at which a change meets a fault to the next. */
    function strideOf(change: Change, kind: Fault['kind']): number {
      const { strides = {} } = subject
      return (kind === 'hold' ? strides.hold : change === DELETE ? strides.delete : strides.write) ?? 1
    }

    /** Makes a change of the next point while the proxy has a fault; what was told, and whether it was met. */
    async function meet(change: Change, historian: Historian, proxy: FaultyProxy, fault: Fault) {
      const time = nextTime++
      await change.prepare(direct, time)
      proxy.arm(fault)
      const answer = await tell(change, historian, time)
      return { time, happened: proxy.release(), ...answer }
    }

    /** A historian with the time of a call after so many misses, or more where opening takes longer. */
    async function openInTime(proxy: FaultyProxy, seconds: number, misses: number): Promise<Historian> {
      for (let more = misses; ; more++) {
        try {
          return await subject.open(proxy.port, patienceOf(seconds, more))
        } catch (error) {
          if (patienceOf(seconds, more) === LONG_SECONDS) throw error
        }
      }
    }

    /**
     * Bytes of a change that nothing interrupts, after one that met the fault: with the connection that is then made.
     * @returns its length, give or take a few bytes of times and identifiers
     */
    async function lengthOf(
      change: Change,
      kind: Fault['kind'],
      direction: Fault['direction'],
      seconds: number,
    ): Promise<number> {
      for (let misses = 0; misses < MOST_MISSES; misses++) {
        const proxy = await FaultyProxy.start(subject.port)
        const historian = await openInTime(proxy, seconds, misses)
        try {
          for (const after of [0, Infinity]) {
            const { happened, code } = await meet(change, historian, proxy, { kind, direction, after })
            if (!happened && code === change.codes.done) return proxy.passed
          }
        } finally {
          await historian.close()
          await proxy.close()
        }
      }
      throw new Error('no change is made within its time')
    }

    /**
     * Makes changes through a fault at one place after the other until there are no more bytes: at each byte near the
     * end of the change, where it is made or not, and strides apart elsewhere. After that end there is what a client
     * that gave up says.
     */
    async function faultEverywhere(
      change: Change,
      kind: Fault['kind'],
      direction: Fault['direction'],
      seconds: number,
    ): Promise<ReadonlyMap<number, Told>> {
      const told = new Map<number, Told>()
      const stride = strideOf(change, kind)
      const end = await lengthOf(change, kind, direction, seconds)
      let next = 0
      const lanes = Array.from({ length: LANES[kind] }, async () => {
        const proxy = await FaultyProxy.start(subject.port)
        const historians: Historian[] = []
        try {
          // How many connections are made differs, and with them the bytes: each lane goes on until it meets an end.
          for (let isThere = true; isThere; ) {
            const after = next
            next += Math.abs(after - end) < EDGE_BYTES ? 1 : stride
            isThere = await faultAt({ kind, direction, after }, proxy, historians)
          }
        } finally {
          for (const historian of historians) await historian.close()
          await proxy.close()
        }
      })
      await Promise.all(lanes)
      return told

      /**
       * A historian whose next change makes a connection or not, as each does after one that met this kind of fault:
       * one that is cut is made again over a new connection, which stays; one that is held is given up with its own.
       */
      async function openAnew(proxy: FaultyProxy, misses: number): Promise<Historian> {
        const historian = await openInTime(proxy, seconds, misses)
        if (kind !== 'split') await meet(change, historian, proxy, { kind, direction, after: 0 })
        return historian
      }

      /** @returns whether the change has that many bytes */
      async function faultAt(fault: Fault, proxy: FaultyProxy, historians: Historian[]): Promise<boolean> {
        for (let misses = 0; misses < MOST_MISSES; misses++) {
          if (misses === historians.length) historians.push(await openAnew(proxy, misses))
          const { time, happened, code, message } = await meet(change, historians[misses]!, proxy, fault)
          told.set(time, { fault, code, message })
          if (happened) return true
          if (code === change.codes.done) {
            if (kind !== 'hold' || fault.after >= end - EDGE_BYTES) return false
            // It was made over a connection that was there, in fewer bytes: the next one makes its own.
            await meet(change, historians[misses]!, proxy, { kind, direction, after: 0 })
          }
          // On a busy machine the time may be up before that many bytes came: the next one has more.
        }
        return true
      }
    }

    async function compare(change: Change, told: ReadonlyMap<number, Told>): Promise<void> {
      const { codes, isStoredAfter } = change
      await wait(SETTLE_MS)
      const stored = await timesOf(direct)
      const lies: string[] = []
      for (const [time, { fault, code, message }] of told) {
        const isStored = stored.has(time)
        const isTrue =
          code === codes.unknown || isStored === (code === codes.done ? isStoredAfter : !isStoredAfter)
        if (!isTrue || !isOutcome(code, codes))
          lies.push(`${show(fault)}: ${code}, and ${isStored ? '' : 'not '}stored: ${message}`)
      }
      assert.deepEqual(lies.slice(0, 5), [], `${lies.length} of ${told.size}`)
    }

    for (const direction of ['request', 'answer'] as const) {
      for (const change of [WRITE, DELETE]) {
        test(change.titles[direction], async () => {
          const told = await faultEverywhere(change, 'cut', direction, LONG_SECONDS)
          assert.ok(told.size > 50 / strideOf(change, 'cut'), `${told.size} places`)
          const wanted = subject.isSentAgain ? change.codes.done : change.codes.unknown
          assert.ok([...told.values()].some(({ code }) => code === wanted))
          await compare(change, told)
        })
      }

      test(`a write held after every byte of the ${direction} until the time is up, and delivered then`, async () => {
        const told = await faultEverywhere(WRITE, 'hold', direction, HOLD_SECONDS)
        assert.ok(told.size > 50 / strideOf(WRITE, 'hold'), `${told.size} places`)
        assert.ok(
          [...told.values()].some(({ code }) => code === WRITE_CODES.unknown),
          countCodes(told),
        )
        await compare(WRITE, told)
      })

      test(`a write delayed after every byte of the ${direction}: nothing is noticed`, async () => {
        const told = await faultEverywhere(WRITE, 'split', direction, LONG_SECONDS)
        assert.ok(told.size > 50 / strideOf(WRITE, 'split'), `${told.size} places`)
        for (const { fault, code, message } of told.values()) {
          assert.equal(code, 'WRITE_DONE', `${show(fault)}: ${message}`)
        }
        await compare(WRITE, told)
      })
    }

    test('a write sent twice: it is there once', async () => {
      for (let attempt = 0; attempt < MOST_MISSES; attempt++) {
        const time = nextTime++
        const before = await timesOf(direct)
        const { code, message } = await tellTwice(time)
        await wait(SETTLE_MS)
        const after = await timesOf(direct)
        const added = [...after].filter((each) => !before.has(each))
        // The copy's transaction may lock the rows first, and waits for a commit that is only sent after an answer.
        const isLockedOut = code === WRITE_CODES.failed && added.length === 0
        if (isLockedOut) continue
        assert.ok(code === WRITE_CODES.done || code === WRITE_CODES.unknown, message)
        assert.deepEqual(added, [time])
        return
      }
      assert.fail('no write was taken')
    })

    async function tellTwice(time: number): Promise<Pick<Told, 'code' | 'message'>> {
      const proxy = await FaultyProxy.start(subject.port)
      proxy.duplicates = true
      // A server that still runs the first of two refuses the second, which may be the one that is answered.
      const isTwice = (error: unknown) => error instanceof Error && /twice/.test(error.message)
      try {
        const historian = await untilDone(() => subject.open(proxy.port, TWICE_SECONDS), isTwice)
        try {
          return await tell(WRITE, historian, time)
        } finally {
          await historian.close()
        }
      } finally {
        await proxy.close()
      }
    }
  })
}

async function write(historian: Historian, time: number): Promise<void> {
  await historian.write(writeBatch([{ tag: TAG, points: points([time, time]) }], true), context)
}

/** Seconds that a change has after so many that did not meet their fault in time. */
const patienceOf = (seconds: number, misses: number): number =>
  Math.min(seconds * PATIENCE ** misses, LONG_SECONDS)

function isOutcome(code: string, { done, failed, unknown }: Change['codes']): boolean {
  return code === done || code === failed || code === unknown
}

/** What was told at how many places, from the first one to the last. */
function countCodes(told: ReadonlyMap<number, Told>): string {
  const places = [...told.values()].map(({ fault, code }) => ({ code, after: fault.after }))
  const codes = new Set(places.map(({ code }) => code))
  return [...codes]
    .map((code) => {
      const of = places.filter((place) => place.code === code).map(({ after }) => after)
      return `${of.length} ${code}, after ${Math.min(...of)} to ${Math.max(...of)} bytes`
    })
    .join('; ')
}

/** What a client is told of its change. */
async function tell(
  { codes, make }: Change,
  historian: Historian,
  time: number,
): Promise<Pick<Told, 'code' | 'message'>> {
  const applied = await applyAll([{ historian, run: () => make(historian, time) }], codes, context)
  switch (applied.kind) {
    case 'done':
      return { code: codes.done, message: '' }
    case 'rejected':
      return { code: codes.failed, message: applied.error.message }
    case 'failed':
      return applied.issues[0]!
  }
}

async function timesOf(historian: Historian): Promise<ReadonlySet<number>> {
  const [read] = await historian.readRanges([{ tag: TAG, ...EVER, order: 'asc', limit: 1e6 }], context)
  const { times, values } = read!.points
  assert.deepEqual([...values], [...times], 'each point has its own value')
  return new Set(times)
}

function show({ kind, direction, after: bytes }: Fault): string {
  return `${kind} after ${bytes} bytes of the ${direction}`
}
