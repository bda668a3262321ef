import { computed, effect, signal, untracked } from '@preact/signals-core'
import { key, serviceNow } from '../api/client.ts'
import { readMulti } from '../api/multi.ts'
import { readMetadata } from '../api/tags.ts'
import { followNow, isLive, span, view, zone } from '../state/store.ts'
import { addDays } from '../time/zone.ts'
import { PenLoader } from './pen-loader.ts'

const LIVE_MS = 1_000

/** Width of the plot in CSS pixels; 0 while it is not laid out. */
export const plotWidth = signal(0)

/** The loaders by the address of their pen or limit. */
export const loaders = signal<ReadonlyMap<string, PenLoader>>(new Map())

/** Those of the earlier period, while one is shown. */
export const earlierLoaders = signal<ReadonlyMap<string, PenLoader>>(new Map())

/** Whether anything is being loaded. */
export const isLoading = computed(() =>
  [...loaders.value.values(), ...earlierLoaders.value.values()].some((loader) => loader.isLoading.value),
)

/** Addresses of all curves: pens, and limits that are tags. */
const curves = computed(() => {
  const addresses = new Set<string>()
  for (const pen of view.value.pens) {
    addresses.add(pen.address)
    for (const { value } of pen.limits) if (typeof value === 'string') addresses.add(value)
  }
  return [...addresses]
})

/** Days are those of the calendar, so that a shift begins below a shift also across a clock change. */
const earlierMs = computed(() => {
  const { earlierDays } = view.value
  if (earlierDays === 0) return 0
  const middle = untracked(() => (span.value.from + span.value.to) / 2)
  return middle - addDays(middle, -earlierDays, zone.value)
})

/** Keeps the loaders in step with the view until the page is left. */
export function startLoaders(): void {
  effect(() => {
    const addresses = key.value === '' ? [] : curves.value
    untracked(() => {
      const before = loaders.value
      loaders.value = renewed(before, addresses, 0)
      void learnMetadata([...loaders.value.values()].filter(({ tag }) => !before.has(tag)))
    })
  })
  effect(() => {
    const shiftMs = earlierMs.value
    const shown = shiftMs === 0 || key.value === '' ? [] : view.value.pens.map(({ address }) => address)
    untracked(() => {
      earlierLoaders.value = renewed(earlierLoaders.value, shown, shiftMs)
    })
  })
  effect(() => {
    const { from, to } = span.value
    const width = plotWidth.value
    const [mine, earlier, place] = [loaders.value, earlierLoaders.value, zone.value]
    if (width < 1) return
    untracked(() => {
      for (const loader of [...mine.values(), ...earlier.values()]) loader.want(from, to, width, place)
    })
  })
  setInterval(() => {
    if (isLive.peek() && !document.hidden && key.peek() !== '') void readTails()
  }, LIVE_MS)
}

function renewed(
  before: ReadonlyMap<string, PenLoader>,
  addresses: readonly string[],
  shiftMs: number,
): ReadonlyMap<string, PenLoader> {
  const next = new Map<string, PenLoader>()
  for (const address of addresses) {
    const known = before.get(address)
    next.set(address, known?.shiftMs === shiftMs ? known : new PenLoader(address, shiftMs))
  }
  for (const loader of before.values()) if (next.get(loader.tag) !== loader) loader.close()
  return next
}

async function learnMetadata(fresh: readonly PenLoader[]): Promise<void> {
  const stored = fresh.filter(({ tag }) => !/^(?:calc|constants|value|siggen|dates?)\//i.test(tag))
  if (stored.length === 0) return
  const entries = await readMetadata(stored.map(({ tag }) => tag)).catch(() => null)
  for (const loader of stored) {
    const metadata = entries?.get(loader.tag)
    if (metadata === undefined) continue
    loader.metadata.value = metadata
    loader.stepped.value = metadata.stepped
  }
}

let isReading = false

/** What is new since the last second, of all pens in one call; then the span moves on. */
async function readTails(): Promise<void> {
  if (isReading) return
  isReading = true
  try {
    const wanted = [...loaders.peek().values()].flatMap((loader) => {
      const tail = loader.tail
      return tail === null ? [] : [{ loader, tail }]
    })
    if (wanted.length > 0) {
      const requests = Object.fromEntries(wanted.map(({ tail }, index) => [String(index), tail]))
      const answer = await readMulti(requests, { zone: zone.peek() })
      const to = serviceNow()
      for (const [index, { loader }] of wanted.entries()) {
        const points = answer.results[String(index)]?.dataPoints
        if (points === undefined) continue
        const values = points.values.map((value, at) =>
          value === null || points.statuses?.[at] === 'BAD' ? Number.NaN : value,
        )
        loader.append(points.timestamps, values, to)
      }
    }
    if (isLive.peek()) followNow()
  } catch {
    // The next second tries again; a service that is away is told by the requests for whole pictures.
  } finally {
    isReading = false
  }
}
