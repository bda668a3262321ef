import type { Page, PageReader } from './pages.ts'

/**
 * All pages of many tags, tag after tag in the order given. Small tags are read many at once, large ones page by page.
 */
export async function* pagesByTag(
  reader: PageReader,
  addresses: AsyncIterable<string>,
): AsyncGenerator<Page> {
  let group: string[] = []
  for await (const address of addresses) {
    group.push(address)
    if (group.length < reader.tagsPerCall) continue
    yield* groupPages(reader, group)
    group = []
  }
  if (group.length > 0) yield* groupPages(reader, group)
}

async function* groupPages(reader: PageReader, addresses: readonly string[]): AsyncGenerator<Page> {
  const first = await reader.read(addresses.map((address) => ({ address, next: null })))
  for (const page of first) {
    yield page
    let { next } = page
    while (next !== null) {
      const [more] = await reader.read([{ address: page.address, next }])
      yield more!
      next = more!.next
    }
  }
}
