/** What a metric of prom-client returns from `get` when it is printed. */
interface Printed {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'histogram'
  readonly aggregator: 'sum'
  readonly values: readonly PrintedValue[]
}

interface PrintedValue {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * A counter with labels, for what is counted many times a request: prom-client looks up the set of labels anew for each
 * increment, which costs more than the rest of a small request. Registers like a metric of prom-client.
 * @param labelNames in the order in which `add` takes their values
 */
export class Tally<Values extends readonly string[]> {
  readonly name: string
  readonly #help: string
  readonly #labelNames: Values
  readonly #rows = new Rows<Count>((values) => ({ labels: labelled(this.#labelNames, values), value: 0 }))

  constructor(name: string, help: string, labelNames: Values) {
    this.name = name
    this.#help = help
    this.#labelNames = labelNames
  }

  add(amount: number, ...values: { readonly [Index in keyof Values]: string }): void {
    this.#rows.of(values).value += amount
  }

  /** What `add` with these values adds to, for callers that add to it often; it is printed from now on. */
  row(...values: { readonly [Index in keyof Values]: string }): { value: number } {
    return this.#rows.of(values)
  }

  async get(): Promise<Printed> {
    const values = this.#rows.all.map(({ labels, value }) => ({ labels, value }))
    return { name: this.name, help: this.#help, type: 'counter', aggregator: 'sum', values }
  }
}

/** A histogram with labels, as {@link Tally} is a counter. */
export class TallyOfTimes<Values extends readonly string[]> {
  readonly name: string
  readonly #help: string
  readonly #labelNames: Values
  readonly #bounds: readonly number[]
  readonly #rows = new Rows<Times>((values) => ({
    labels: labelled(this.#labelNames, values),
    counts: new Float64Array(this.#bounds.length + 1),
    sum: 0,
  }))

  /** @param bounds upper bounds of the buckets, included, ascending; the bucket without a bound is added */
  constructor(name: string, help: string, labelNames: Values, bounds: readonly number[]) {
    this.name = name
    this.#help = help
    this.#labelNames = labelNames
    this.#bounds = bounds
  }

  /** @param seconds at least 0 */
  add(seconds: number, ...values: { readonly [Index in keyof Values]: string }): void {
    this.addTo(this.#rows.of(values), seconds)
  }

  /** What `addTo` adds to as `add` with these values does; it is printed from now on. */
  row(...values: { readonly [Index in keyof Values]: string }): Times {
    return this.#rows.of(values)
  }

  addTo(row: Times, seconds: number): void {
    let bucket = 0
    while (bucket < this.#bounds.length && seconds > this.#bounds[bucket]!) bucket++
    row.counts[bucket]!++
    row.sum += seconds
  }

  async get(): Promise<Printed> {
    const values: PrintedValue[] = []
    for (const { labels, counts, sum } of this.#rows.all) {
      let count = 0
      counts.forEach((inBucket, bucket) => {
        count += inBucket
        const le = bucket < this.#bounds.length ? String(this.#bounds[bucket]) : '+Inf'
        values.push({ metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count })
      })
      values.push({ metricName: `${this.name}_sum`, labels, value: sum })
      values.push({ metricName: `${this.name}_count`, labels, value: count })
    }
    return { name: this.name, help: this.#help, type: 'histogram', aggregator: 'sum', values }
  }
}

/** A row of a histogram. */
export interface Times {
  readonly labels: Readonly<Record<string, string>>
  /** Of each bucket alone. */
  readonly counts: Float64Array
  sum: number
}

interface Count {
  readonly labels: Readonly<Record<string, string>>
  value: number
}

/**
 * Rows by the values of their labels: a map for each label, since a name joined from several is hashed anew each time.
 */
class Rows<Row> {
  readonly #make: (values: readonly string[]) => Row
  readonly #root: Level<Row> = { row: null, next: new Map() }
  /** In the order in which they were first needed. */
  readonly all: Row[] = []

  constructor(make: (values: readonly string[]) => Row) {
    this.#make = make
  }

  of(values: readonly string[]): Row {
    let level = this.#root
    for (let i = 0; i < values.length; i++) {
      let next = level.next.get(values[i]!)
      if (next === undefined) {
        next = { row: null, next: new Map() }
        level.next.set(values[i]!, next)
      }
      level = next
    }
    if (level.row === null) {
      level.row = this.#make(values)
      this.all.push(level.row)
    }
    return level.row
  }
}

interface Level<Row> {
  row: Row | null
  readonly next: Map<string, Level<Row>>
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]))
}
