import { type Near, nearName, together } from './near.ts'
import type { Need, NeedSink, PlannedRead, StoredCount } from './need.ts'

/** A sink for the needs of a place that is known only when it was found: all that follows from them is needed there. */
export function nearSink(sink: NeedSink, near: Near): NeedSink {
  return {
    need: (operator, need) => sink.need(operator, moved(need, near)),
    read: (read) => {
      const stored = movedCount(read, near)
      sink.read({ ...read, key: stored === null ? read.key : `${read.key} ${nearName(near)}`, stored })
    },
    generate: (address, points) => sink.generate(address, points),
  }
}

function movedCount({ stored, atMost }: PlannedRead, near: Near): StoredCount | null {
  // A page of points costs its own count wherever it lies.
  if (stored === null || Number.isFinite(atMost)) return null
  return { ...stored, near }
}

function moved(need: Need, near: Near): Need {
  if (need.near === near) return need
  const both = need.near === undefined ? near : together(near, need.near)
  return { ...need, near: both }
}
