/** What was opened so far of something that is made of several: all of it is closed when the rest cannot be opened. */
export class Opened {
  readonly #all: { close(): unknown }[] = []

  add<T extends { close(): unknown }>(one: T): T {
    this.#all.push(one)
    return one
  }

  /** Closes all, the last one first. Never rejects: why the rest could not be opened is what matters. */
  async close(): Promise<void> {
    for (const one of this.#all.splice(0).reverse()) {
      try {
        await one.close()
      } catch {
        // The others are closed all the same.
      }
    }
  }
}
