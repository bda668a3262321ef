import type { View } from '../state/view.ts'
import type { Curve, Layout } from './layout.ts'
import type { Theme } from './theme.ts'

/** All that a chart is drawn from. */
export interface Picture {
  readonly layout: Layout
  readonly view: View
  readonly theme: Theme
  /** The service's clock. */
  readonly now: number
  /** Intervals to shade, such as batches. */
  readonly shaded: readonly { readonly from: number; readonly to: number }[]
  /** The pen to bring out, empty for none. */
  readonly selected: string
  readonly limitOf: (address: string) => Curve['loader'] | undefined
}
