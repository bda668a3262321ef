import type { Historian } from '../historian/contract.ts'
import type { DriverLog } from '../historian/driver.ts'
import type { Instant } from '../time/instant.ts'
import { fillPlant } from './fill.ts'
import { STEP_US } from './plant.ts'

/** After the step, since a timer may be a little early, and would then find nothing to write. */
const MARGIN_US = 50_000

/** Keeps the plant going while the service runs: a point of each tag at every step, soon after its time. */
export class PlantFeed {
  readonly #historian: Historian
  readonly #clock: () => Instant
  readonly #log: DriverLog
  readonly #ending = new AbortController()
  #timer: NodeJS.Timeout | null = null
  #filling: Promise<void> = Promise.resolve()

  constructor(historian: Historian, clock: () => Instant, log: DriverLog) {
    this.#historian = historian
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    const wait = STEP_US - (this.#clock() % STEP_US) + MARGIN_US
    this.#timer = setTimeout(
      () => {
        this.#filling = this.#fill().finally(() => {
          if (!this.#ending.signal.aborted) this.start()
        })
      },
      Math.ceil(wait / 1000),
    )
    this.#timer.unref()
  }

  /** Ends the feed; the historian may then be closed. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#ending.abort()
    await this.#filling
  }

  async #fill(): Promise<void> {
    try {
      await fillPlant(this.#historian, this.#clock(), { signal: this.#ending.signal })
    } catch (err) {
      // The next step fills what this one did not.
      if (!this.#ending.signal.aborted)
        this.#log.warn({ err }, 'The demo plant could not be brought up to the present')
    }
  }
}
