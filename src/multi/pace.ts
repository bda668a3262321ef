/** Items between two pauses: a few microseconds each. */
const STEP_ITEMS = 512

/** Visits very many items in their order. @param pause yields to the event loop when that is due */
export async function inSlices<Item>(
  items: readonly Item[],
  pause: () => Promise<void>,
  visit: (item: Item) => void,
): Promise<void> {
  for (let i = 0; i < items.length; i++) {
    if (i % STEP_ITEMS === STEP_ITEMS - 1) await pause()
    visit(items[i]!)
  }
}
