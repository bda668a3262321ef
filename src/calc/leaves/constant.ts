import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { NO_POINTS } from '../../series/columns.ts'
import type { Instant } from '../../time/instant.ts'
import { aggregatesOfConstant } from '../consumers/aggregates.ts'
import { BaseOperator } from '../graph/base.ts'
import { type Chunk, type ChunkRange, type ChunkStream, streamOf } from '../graph/chunk.ts'
import { instantNeed, type Need, type NeedSink } from '../graph/need.ts'
import type { CurrentPoint, Operator, OperatorContext } from '../graph/operator.ts'

/**
 * Leaf: the same value at every time, before the first point of any tag and beyond `now` too; without raw points.
 * Either a number, with NaN for `constants/empty`, or the value that an operator has at one instant.
 */
export class ConstantLeaf extends BaseOperator {
  /** Where it is a number; `null` for the value of an operator, which is known once it was read. */
  readonly number: number | null
  readonly #read: () => Promise<number>
  readonly #at: Instant | null
  #value: Promise<number> | null = null

  private constructor(
    inputs: readonly Operator[],
    at: Instant | null,
    number: number | null,
    read: () => Promise<number>,
    context: OperatorContext,
  ) {
    super(inputs, context, { stepped: true, varies: 'nothing', linear: true, extrapolationLimits: [] })
    this.#at = at
    this.number = number
    this.#read = read
  }

  get isComplete(): boolean {
    return Number.isFinite(this.number)
  }

  /** @param value NaN for no value at any time */
  static of(value: number, context: OperatorContext): ConstantLeaf {
    return new ConstantLeaf([], null, value, async () => value, context)
  }

  /** The value of an operator at one instant. */
  static valueAt(input: Operator, at: Instant, context: OperatorContext): ConstantLeaf {
    const read = async (): Promise<number> => (await input.valuesAt(Float64Array.of(at)))[0]!
    return new ConstantLeaf([input], at, null, read, context)
  }

  override needs({ kind }: Need, sink: NeedSink): void {
    if (this.#at !== null && kind !== 'point') sink.need(this.inputs[0]!, instantNeed(this.#at))
  }

  protected inputNeeds(): void {}

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    return new Float64Array(times.length).fill(await this.#constant())
  }

  protected open(range: ChunkRange): ChunkStream {
    return streamOf(this.#chunks(range))
  }

  async *#chunks({ from, to }: ChunkRange): AsyncGenerator<Chunk, void> {
    yield this.signal(from, to)
  }

  async signal(from: Instant, to: Instant): Promise<Chunk> {
    const value = await this.#constant()
    const valuesAt = (times: Float64Array) => new Float64Array(times.length).fill(value)
    return { from, to, raw: NO_POINTS, valuesAt }
  }

  override async currentPoint(): Promise<CurrentPoint> {
    const value = await this.#constant()
    return { time: null, value, bad: Number.isNaN(value) }
  }

  protected async findPoint(): Promise<null> {
    return null
  }

  protected override async findValue(): Promise<boolean> {
    return !Number.isNaN(await this.#constant())
  }

  /** A constant has no raw points, and the signal is its value. */
  async aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesOfConstant(await this.#constant(), edges, names, this.context)
  }

  #constant(): Promise<number> {
    this.#value ??= this.#read()
    return this.#value
  }
}
