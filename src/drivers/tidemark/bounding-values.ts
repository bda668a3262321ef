import type { CallContext } from '../../historian/contract.ts'
import type { PointColumns } from '../../series/columns.ts'
import type { BoundingValues } from '../../series/reads.ts'
import { notUnderstood } from './errors.ts'
import type { Instance } from './instance.ts'
import { ask, type LabelRequest } from './labels.ts'
import { readColumns, readPoint, timeText } from './wire.ts'

/**
 * Good points beside many times. For few times each is asked for by itself. Between many of them lie mostly not many
 * more points, so those are read; should they turn out to be more than the times are worth, the rest is asked for by
 * itself.
 */

/** Up to so many times are not worth a range. */
const FEW_TIMES = 16
/** A time that is asked for by itself costs about as much as so many points of a range. */
const POINTS_PER_TIME = 64

/** @param addressOf  the address there of the tag's good points; @param pagePoints that one call may ask for */
export async function readBoundingValues(
  instance: Instance,
  tags: readonly string[],
  times: Float64Array,
  addressOf: (tag: string) => string,
  pagePoints: number,
  context: CallContext,
): Promise<readonly BoundingValues[]> {
  const readers = tags.map((tag) => new BoundingReader(addressOf(tag), times))
  while (true) {
    const waiting = readers.filter((reader) => !reader.isDone)
    if (waiting.length === 0) return readers.map(({ result }) => result)
    const share = Math.max(2, Math.floor(pagePoints / waiting.length))
    const asked = waiting.map((reader) => reader.next(share))
    const answers = await ask(instance, asked.flat(), { kind: 'read' }, context)
    let at = 0
    waiting.forEach((reader, index) => {
      const count = asked[index]!.length
      if (!reader.take(answers.slice(at, at + count))) {
        throw notUnderstood(instance.historian, 'its points are none')
      }
      at += count
    })
  }
}

/** Works through the times of one tag, from the first to the last. */
class BoundingReader {
  readonly result: BoundingValues
  readonly #address: string
  readonly #times: Float64Array
  /** Times before this one have their bounding values. */
  #done = 0
  #points = 0
  #cursor: string | null = null
  #byRange: boolean
  /** The last good point so far. */
  #beforeTime = Number.NaN
  #beforeValue = Number.NaN

  constructor(address: string, times: Float64Array) {
    const column = () => new Float64Array(times.length).fill(Number.NaN)
    this.result = {
      beforeTimes: column(),
      beforeValues: column(),
      afterTimes: column(),
      afterValues: column(),
    }
    this.#address = address
    this.#times = times
    this.#byRange = times.length > FEW_TIMES
  }

  get isDone(): boolean {
    return this.#done >= this.#times.length
  }

  /** What to ask for now; at most `share` points. */
  next(share: number): readonly LabelRequest[] {
    const times = this.#times
    const tag = this.#address
    if (!this.#byRange) {
      const end = Math.min(times.length, this.#done + Math.max(1, Math.floor(share / 2)))
      return Array.from(times.subarray(this.#done, end), (at) => [
        { type: 'POINT_BEFORE_OR_AT', tag, details: { at: timeText(at) } },
        { type: 'POINT_AFTER_OR_AT', tag, details: { at: timeText(at) } },
      ]).flat()
    }
    const details = {
      from: timeText(times[0]!),
      to: timeText(times.at(-1)!),
      leftBoundary: 'NEAREST',
      rightBoundary: 'NEAREST',
      maxPoints: Math.min(share, POINTS_PER_TIME * times.length),
      ...(this.#cursor !== null && { cursor: this.#cursor }),
    }
    return [{ type: 'RAW_POINTS', tag, details }]
  }

  /** Takes the answers to what `next` asked for; false when they are not understood. */
  take(answers: readonly (Readonly<Record<string, unknown>> | null)[]): boolean {
    if (answers[0] === null) {
      // No tag, no points.
      this.#done = this.#times.length
      return true
    }
    return this.#byRange ? this.#takePage(answers[0]!) : this.#takePoints(answers)
  }

  #takePoints(answers: readonly (Readonly<Record<string, unknown>> | null)[]): boolean {
    const { beforeTimes, beforeValues, afterTimes, afterValues } = this.result
    for (let i = 0; i < answers.length; i += 2) {
      const before = readPoint(answers[i]?.dataPoint)
      const after = readPoint(answers[i + 1]?.dataPoint)
      if (before === null || after === null) return false
      beforeTimes[this.#done] = before.time
      beforeValues[this.#done] = before.value
      afterTimes[this.#done] = after.time
      afterValues[this.#done] = after.value
      this.#done++
    }
    return true
  }

  #takePage(answer: Readonly<Record<string, unknown>>): boolean {
    const page = readColumns(answer.dataPoints)
    if (page === null) return false
    this.#points += page.times.length
    this.#walk(page)
    const next = page.times.length > 0 ? answer.next : null
    if (typeof next !== 'string') this.#finish()
    this.#cursor = typeof next === 'string' ? next : null
    if (this.#points > POINTS_PER_TIME * (this.#done + FEW_TIMES)) this.#byRange = false
    return true
  }

  /** Times up to the last point of the page have both of their bounding values now. */
  #walk({ times, values }: PointColumns): void {
    const { beforeTimes, beforeValues, afterTimes, afterValues } = this.result
    for (let i = 0; i < times.length; i++) {
      const time = times[i]!
      const value = values[i]!
      for (; this.#done < this.#times.length && this.#times[this.#done]! <= time; this.#done++) {
        const isAt = this.#times[this.#done] === time
        beforeTimes[this.#done] = isAt ? time : this.#beforeTime
        beforeValues[this.#done] = isAt ? value : this.#beforeValue
        afterTimes[this.#done] = time
        afterValues[this.#done] = value
      }
      this.#beforeTime = time
      this.#beforeValue = value
    }
  }

  /** After the last point there is only what was before. */
  #finish(): void {
    const { beforeTimes, beforeValues } = this.result
    for (; this.#done < this.#times.length; this.#done++) {
      beforeTimes[this.#done] = this.#beforeTime
      beforeValues[this.#done] = this.#beforeValue
    }
  }
}
