import { signal } from '@preact/signals-core'
import type { Layout } from './layout.ts'

/** A stretch of time that is shaded, such as a batch. */
export interface Shade {
  readonly from: number
  readonly to: number
}

/** The intervals of a condition. */
export const shaded = signal<readonly Shade[]>([])

/** The last picture's places, for pointers and keys. */
export const layout = signal<Layout | null>(null)

/** A span that is being drawn with the pointer, to zoom to. */
export const rubberBand = signal<Shade | null>(null)

/** How far from the cursor a point is still the one that is meant: a few pixels, in milliseconds. */
export function reachMs(): number {
  const places = layout.value
  return places === null ? 0 : (6 * (places.span.to - places.span.from)) / (places.right - places.left)
}

/** Counts pictures, for measurements and tests. */
export const frames = signal(0)
