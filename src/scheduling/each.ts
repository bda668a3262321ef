import type { CooperativeScheduler } from './cooperative-scheduler.ts'

/** Entries between two looks at the clock: a few microseconds each. */
const ENTRIES = 128

/**
 * Visits many entries of a request in their order; yields to the event loop, and ends with the call, whenever that is
 * due.
 * @param isLong whether an entry may take as long as many others: the clock is looked at after each of these
 */
export async function forEach<Item>(
  items: readonly Item[],
  scheduler: CooperativeScheduler,
  visit: (item: Item, index: number) => void,
  isLong?: (item: Item) => boolean,
): Promise<void> {
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!
    visit(item, index)
    const mayBeDue = index % ENTRIES === ENTRIES - 1 || isLong?.(item) === true
    if (mayBeDue && scheduler.isDue) await scheduler.yield()
  }
}

/** An array of what a function makes of each of many entries; yields as `forEach` does. */
export async function mapEach<Item, Made>(
  items: readonly Item[],
  scheduler: CooperativeScheduler,
  make: (item: Item, index: number) => Made,
): Promise<Made[]> {
  const made: Made[] = []
  await forEach(items, scheduler, (item, index) => {
    made.push(make(item, index))
  })
  return made
}
