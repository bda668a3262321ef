import type { EdgePoint } from '../../../series/interpolate.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { type Instant, MIN_INSTANT } from '../../../time/instant.ts'
import type { InputNeed } from '../../graph/base.ts'
import type { ChunkRange, ChunkStream } from '../../graph/chunk.ts'
import type { Reach } from '../../graph/near.ts'
import type { NeedSink, PointNeed } from '../../graph/need.ts'
import type { Operator } from '../../graph/operator.ts'
import { columnsOf } from '../../graph/point-source.ts'
import { lastOf, ScanOperator } from './scan.ts'

/** A scan whose raw points stand at the raw times of its input, all of them, and are BAD where those are. */
export abstract class RawTimesScan extends ScanOperator {
  override get isNeverBad(): boolean {
    return this.input.isNeverBad
  }

  protected override get badWith(): Operator {
    return this.input
  }

  protected override findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.input.rawTime(find, at)
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    return this.input.reach(find, at)
  }

  protected override inputNeeds(need: InputNeed, sink: NeedSink): void {
    if ('rawOnly' in need && need.rawOnly) sink.need(this.input, need)
    else super.inputNeeds(need, sink)
  }

  /** What a raw point becomes does not depend on others. */
  protected override open(range: ChunkRange): ChunkStream {
    if (range.rawOnly !== true) return super.open(range)
    const stream = this.input.chunks(range)
    const next = async () => {
      const chunk = await stream.next()
      return chunk === null ? null : { ...chunk, raw: this.derive(chunk.raw, null).raw }
    }
    return { next }
  }

  protected pointNeeds(need: PointNeed, sink: NeedSink): void {
    sink.need(this.input, need)
  }

  protected async vertexBefore(at: Instant): Promise<EdgePoint | null> {
    const point = at <= MIN_INSTANT ? null : await this.vertexPoint('before', at)
    return point === null ? null : lastOf(this.derive(columnsOf([point]), null))
  }

  protected vertexBeforeNeeds(at: Instant, sink: NeedSink): void {
    this.vertexNeeds({ find: 'before', at }, sink)
  }
}
