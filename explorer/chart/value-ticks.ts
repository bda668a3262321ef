/** Ends of a scale and the step of its ticks, all round numbers. */
export interface ValueScale {
  readonly low: number
  readonly high: number
  readonly step: number
}

/** A scale that holds both values, with about this many ticks. */
export function niceScale(least: number, greatest: number, ticks: number): ValueScale {
  let [low, high] = [least, greatest]
  if (!(high > low)) {
    const room = Math.abs(low) > 0 ? Math.abs(low) * 0.1 : 1
    low -= room
    high += room
  }
  const step = niceStep((high - low) / Math.max(1, ticks))
  // Some room above and below, so that a line never runs along the edge.
  const room = (high - low) * 0.04
  // Ends at quarters of a step: round enough to stay while one pans, and little of the height is left empty.
  const end = step / 4
  return { low: Math.floor((low - room) / end) * end, high: Math.ceil((high + room) / end) * end, step }
}

/** A scale with given ends. */
export function fixedScale(low: number, high: number, ticks: number): ValueScale {
  return { low, high, step: niceStep((high - low) / Math.max(1, ticks)) }
}

/** The next of 1, 2, 5, 10 times a power of ten. */
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  const share = rough / power
  return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10)
}

export function valueTicks({ low, high, step }: ValueScale): readonly number[] {
  const first = Math.ceil(low / step - 1e-9)
  const last = Math.floor(high / step + 1e-9)
  if (!(last - first < 200)) return []
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/** A tick with as many decimals as its step needs. */
export function tickText(value: number, step: number): string {
  if (value === 0 || Math.abs(value) < step * 1e-9) return '0'
  const size = Math.max(Math.abs(value), step)
  if (size >= 1e7 || step < 1e-6)
    return value
      .toExponential(2)
      .replace(/\.?0+e/, 'e')
      .replace('e+', 'e')
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))
}

/** A value for people: seven digits at most, without a tail of zeros. */
export function valueText(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e9 || size < 1e-4) return value.toExponential(3).replace('e+', 'e')
  const digits = Math.max(0, 5 - Math.floor(Math.log10(size)))
  return String(Number(value.toFixed(Math.min(digits, 6))))
}
