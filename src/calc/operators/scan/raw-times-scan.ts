import type { FindPoint } from '../../../series/reads.ts'
import type { Instant } from '../../../time/instant.ts'
import { boundNeeds, boundOfRaw, isBadWith } from '../../consumers/find-point.ts'
import type { Reach } from '../../graph/near.ts'
import type { FindPlace, NeedSink, PointNeed } from '../../graph/need.ts'
import type { Operator } from '../../graph/operator.ts'
import { ScanOperator } from './scan.ts'

/** A scan whose raw points stand at the raw times of its input, all of them, and are BAD where those are. */
export abstract class RawTimesScan extends ScanOperator {
  readonly isNeverBad: boolean = this.input.isNeverBad === true

  protected findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.input.rawTime(find, at)
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    return this.input.reach(find, at)
  }

  goodBound(find: FindPoint, at: Instant): Promise<Instant | null> {
    return boundOfRaw(this.input, find, at)
  }

  isBadWith(operator: Operator): boolean {
    return isBadWith(this.input, operator)
  }

  goodBoundNeeds(place: FindPlace, sink: NeedSink): void {
    boundNeeds(this.input, place, sink)
  }

  protected pointNeeds(need: PointNeed, sink: NeedSink): void {
    sink.need(this.input, need)
  }
}
