/** What a metric of prom-client is told by its `get` when it is printed. */
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
  readonly #rows = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>()

  constructor(name: string, help: string, labelNames: Values) {
    this.name = name
    this.#help = help
    this.#labelNames = labelNames
  }

  add(amount: number, ...values: { readonly [Index in keyof Values]: string }): void {
    const key = keyOf(values)
    const row = this.#rows.get(key)
    if (row === undefined) this.#rows.set(key, { labels: labelled(this.#labelNames, values), value: amount })
    else row.value += amount
  }

  async get(): Promise<Printed> {
    const values = Array.from(this.#rows.values(), ({ labels, value }) => ({ labels, value }))
    return { name: this.name, help: this.#help, type: 'counter', aggregator: 'sum', values }
  }
}

/** A histogram with labels, as {@link Tally} is a counter. */
export class TallyOfTimes<Values extends readonly string[]> {
  readonly name: string
  readonly #help: string
  readonly #labelNames: Values
  readonly #bounds: readonly number[]
  readonly #rows = new Map<string, Times>()

  /** @param bounds upper bounds of the buckets, included, ascending; the bucket without a bound is added */
  constructor(name: string, help: string, labelNames: Values, bounds: readonly number[]) {
    this.name = name
    this.#help = help
    this.#labelNames = labelNames
    this.#bounds = bounds
  }

  /** @param seconds at least 0 */
  add(seconds: number, ...values: { readonly [Index in keyof Values]: string }): void {
    const key = keyOf(values)
    let row = this.#rows.get(key)
    if (row === undefined) {
      const labels = labelled(this.#labelNames, values)
      row = { labels, counts: new Float64Array(this.#bounds.length + 1), sum: 0 }
      this.#rows.set(key, row)
    }
    let bucket = 0
    while (bucket < this.#bounds.length && seconds > this.#bounds[bucket]!) bucket++
    row.counts[bucket]!++
    row.sum += seconds
  }

  async get(): Promise<Printed> {
    const values: PrintedValue[] = []
    for (const { labels, counts, sum } of this.#rows.values()) {
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

interface Times {
  readonly labels: Readonly<Record<string, string>>
  /** Of each bucket alone. */
  readonly counts: Float64Array
  sum: number
}

/** Values are chosen by us and hold no control character. */
function keyOf(values: readonly string[]): string {
  let key = values[0]!
  for (let i = 1; i < values.length; i++) key += `\0${values[i]}`
  return key
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]))
}
