import type { KeyStore } from '../config/keys.ts'
import type { Historian } from '../historian/contract.ts'
import type { DriverLog } from '../historian/driver.ts'
import type { Instant } from '../time/instant.ts'
import { withDemoKey } from './demo-key.ts'
import { PlantFeed } from './feed.ts'
import { fillPlant } from './fill.ts'

/** The demo plant, up to the present and going on. */
export interface Demo {
  /** The service's keys and the demo's own. */
  readonly keys: KeyStore
  /** The demo's key, which reads the demo alone and ends with this process. */
  readonly key: string
  readonly loadedPoints: number
  readonly loadSeconds: number
  /** Ends the feed; the historian may then be closed. */
  stop(): Promise<void>
}

/** Fills the plant, keeps it going, and makes its key. */
export async function startDemo(
  historian: Historian,
  store: KeyStore,
  clock: () => Instant,
  log: DriverLog,
): Promise<Demo> {
  const started = performance.now()
  const loadedPoints = await fillPlant(historian, clock(), { signal: new AbortController().signal })
  const loadSeconds = (performance.now() - started) / 1000
  const feed = new PlantFeed(historian, clock, log)
  feed.start()
  const { keys, secret } = withDemoKey(store, historian.name, clock())
  return { keys, key: secret, loadedPoints, loadSeconds, stop: () => feed.stop() }
}
