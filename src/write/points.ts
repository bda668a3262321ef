import { isObject } from '../errors/fields.ts'
import { issue, showInput } from '../errors/tidemark-error.ts'
import type { Warnings } from '../errors/warnings.ts'
import {
  makeColumns,
  NO_POINTS,
  type PointColumns,
  STATUS_BAD,
  STATUS_OK,
  type Status,
} from '../series/columns.ts'
import { type Instant, MIN_INSTANT } from '../time/instant.ts'
import type { TimeErrorContext } from '../time/invalid-time.ts'
import { numberToInstant, parseTime } from '../time/parse.ts'
import type { IssueList } from './issues.ts'
import type { StateNames } from './state-names.ts'
import { inputIssue, type TagName, timestampIssue } from './target.ts'

/** What the points of a request are read in. */
export interface PointsContext extends TimeErrorContext {
  readonly issues: IssueList
  readonly warnings: Warnings
  /** Where a value may be the name of a state. */
  readonly states: StateNames
}

/**
 * Reads the points of one tag slice by slice, straight into columns. Errors go to the context's issues, and
 * the columns are then worth nothing: one issue refuses the request.
 */
export interface PointsReader {
  readonly length: number
  /** Filled as far as was read. */
  readonly columns: PointColumns
  /** Reads the points from `start` up to and without `end`; each slice once. */
  read(start: number, end: number): void
}

const POINT_FIELDS = ['timestamp', 'value', 'status'] as const
const COLUMN_FIELDS = ['timestamps', 'values', 'statuses', 'unit'] as const
// Points that were read of a tag with states have these beside the values, and are written back as they are.
const POINT_NAME_FIELDS = ['enumString'] as const
const COLUMN_NAME_FIELDS = ['states'] as const
const UNITS = ['s', 'ms', 'us'] as const
type Unit = (typeof UNITS)[number]

/**
 * A reader for either form of a tag's points; without points when the input is neither, which is then an issue.
 * @param first place of the first point, where the input is a part of an array
 */
export function pointsReader(input: unknown, name: TagName, context: PointsContext, first = 0): PointsReader {
  if (Array.isArray(input)) return new ArrayReader(input, name, context, first)
  if (isObject(input)) return columnsReader(input, name, context)
  return noReader(input, name, context, 'an array of points or an object of columns')
}

/** `[{"timestamp", "value", "status"?}, ...]`. */
class ArrayReader implements PointsReader {
  readonly length: number
  readonly columns: PointColumns
  readonly #points: readonly unknown[]
  readonly #name: TagName
  readonly #context: PointsContext
  readonly #first: number

  constructor(points: readonly unknown[], name: TagName, context: PointsContext, first: number) {
    this.#first = first
    this.length = points.length
    // Requests may have hundreds of thousands of tags without any.
    this.columns = points.length === 0 ? NO_POINTS : makeColumns(points.length)
    this.#points = points
    this.#name = name
    this.#context = context
  }

  read(start: number, end: number): void {
    for (let index = start; index < end; index++) {
      const point = this.#points[index]
      if (isObject(point)) this.#readPoint(point as Point, index)
      else {
        this.#context.issues.add(() => inputIssue('INVALID_POINT', point, this.#name, this.#first + index))
      }
    }
  }

  #readPoint(point: Point, index: number): void {
    for (const field in point) {
      if (field !== 'timestamp' && field !== 'value' && field !== 'status') {
        this.#context.warnings.checkFields(point, POINT_FIELDS, 'a point', POINT_NAME_FIELDS)
        break
      }
    }
    const at = parseTime(point.timestamp, this.#context)
    storePoint(this.columns, index, at, point, this.#name, this.#context, this.#first)
  }
}

/** `{"timestamps": [...], "values": [...], "statuses"?: [...], "unit"?}`. */
class ColumnsReader implements PointsReader {
  readonly length: number
  readonly columns: PointColumns
  readonly #input: ColumnsInput
  readonly #name: TagName
  readonly #context: PointsContext

  constructor(input: ColumnsInput, name: TagName, context: PointsContext) {
    this.length = input.timestamps.length
    this.columns = makeColumns(input.timestamps.length)
    this.#input = input
    this.#name = name
    this.#context = context
  }

  read(start: number, end: number): void {
    const { timestamps, values, statuses, unit } = this.#input
    for (let index = start; index < end; index++) {
      const timestamp = timestamps[index]
      const at =
        unit !== null && typeof timestamp === 'number'
          ? this.#numberAt(timestamp, unit)
          : parseTime(timestamp, this.#context)
      const point = { timestamp, value: values[index], status: statuses?.[index] }
      storePoint(this.columns, index, at, point, this.#name, this.#context)
    }
  }

  #numberAt(timestamp: number, unit: Unit | 'unknown'): Instant | null {
    // No number can be judged without its unit, which is an issue already.
    return unit === 'unknown' ? MIN_INSTANT : numberToInstant(timestamp, unit)
  }
}

interface ColumnsInput {
  readonly timestamps: readonly unknown[]
  readonly values: readonly unknown[]
  readonly statuses: readonly unknown[] | null
  /** Of timestamps that are numbers; `null` for the rules that hold everywhere else. */
  readonly unit: Unit | 'unknown' | null
}

interface Point {
  readonly timestamp?: unknown
  readonly value?: unknown
  readonly status?: unknown
}

function columnsReader(
  fields: Readonly<Record<string, unknown>>,
  name: TagName,
  context: PointsContext,
): PointsReader {
  context.warnings.checkFields(fields, COLUMN_FIELDS, 'the columns of a tag', COLUMN_NAME_FIELDS)
  const { timestamps, values } = fields
  const statuses = fields.statuses ?? null
  const unit = fields.unit ?? null
  const known = unit === null ? null : (UNITS.find((candidate) => candidate === unit) ?? 'unknown')
  if (known === 'unknown') context.issues.add(() => inputIssue('INVALID_UNIT', unit, name))
  if (
    !Array.isArray(timestamps) ||
    !Array.isArray(values) ||
    (statuses !== null && !Array.isArray(statuses)) ||
    values.length !== timestamps.length ||
    (statuses !== null && statuses.length !== timestamps.length)
  ) {
    const expected = 'an object of equally long arrays timestamps, values and, if any, statuses'
    return noReader(fields, name, context, expected)
  }
  return new ColumnsReader({ timestamps, values, statuses, unit: known }, name, context)
}

const NO_READER: PointsReader = { length: 0, columns: NO_POINTS, read: () => {} }

function noReader(input: unknown, name: TagName, context: PointsContext, expected: string): PointsReader {
  context.issues.add(() => {
    const shown = showInput(input)
    const { historian, tag, address } = name
    return issue('INVALID_POINTS', { input: shown, historian, tag, expected }, { tag: address, input: shown })
  })
  return NO_READER
}

/** Checks a point whose timestamp is parsed, each of its fields for itself, and puts it into the columns. */
function storePoint(
  columns: PointColumns,
  index: number,
  at: Instant | null,
  { timestamp, value, status }: Point,
  name: TagName,
  context: PointsContext,
  first = 0,
): void {
  const { issues } = context
  if (at === null) issues.add(() => timestampIssue(timestamp, name, context, first + index))
  else columns.times[index] = at
  const number = typeof value === 'string' ? context.states.valueOf(value, name) : value
  if (typeof number === 'number' && Number.isFinite(number)) columns.values[index] = number
  else issues.add(() => context.states.issueOf(value, name, first + index))
  const parsed = parseStatus(status)
  if (parsed !== null) columns.statuses[index] = parsed
  else issues.add(() => inputIssue('INVALID_STATUS', status, name, first + index))
}

/** Left out or null is OK; upper case only. */
function parseStatus(status: unknown): Status | null {
  if (status === undefined || status === null || status === 'OK') return STATUS_OK
  return status === 'BAD' ? STATUS_BAD : null
}
