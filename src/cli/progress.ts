import type { Terminal } from './terminal.ts'

const BAR_WIDTH = 24
const INTERVAL_MS = 100

/**
 * A line on the terminal that shows how far a long command is; nothing at all where stderr is no terminal.
 */
export class Progress {
  readonly #terminal: Terminal
  readonly #total: number | null
  readonly #started = performance.now()
  #shownAt = 0
  #shown = false

  /** @param total bytes of the whole, null when that is not known */
  constructor(terminal: Terminal, total: number | null) {
    this.#terminal = terminal
    this.#total = total
  }

  /** Shows how much is done, at most ten times a second. */
  update(done: number, points: number): void {
    if (this.#terminal.err.isTTY !== true) return
    const now = performance.now()
    if (now - this.#shownAt < INTERVAL_MS) return
    this.#shownAt = now
    this.#draw(done, points, (now - this.#started) / 1000)
  }

  /** Takes the line away, so that what is said next stands in its place. */
  clear(): void {
    if (this.#shown) this.#terminal.err.write('\r\x1b[K')
    this.#shown = false
  }

  /** Seconds since the beginning. */
  seconds(): number {
    return (performance.now() - this.#started) / 1000
  }

  #draw(done: number, points: number, seconds: number): void {
    const rate = seconds > 0 ? `${compact(points / seconds)}/s` : ''
    const parts = [`${compact(points)} points`, rate]
    if (this.#total !== null && this.#total > 0) {
      const share = Math.min(1, done / this.#total)
      const filled = Math.round(share * BAR_WIDTH)
      parts.unshift(`[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)} %`)
      if (share > 0.01) parts.push(`${Math.ceil((seconds / share) * (1 - share))} s left`)
    }
    const width = this.#terminal.err.columns ?? 80
    this.#terminal.err.write(`\r\x1b[K${parts.join('  ').slice(0, width - 1)}`)
    this.#shown = true
  }
}

function compact(count: number): string {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)} M`
  return count >= 1e4 ? `${(count / 1e3).toFixed(0)} k` : String(Math.round(count))
}
