import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { LifeModel } from './life-model.ts'

const { signal } = new AbortController()
const EVER = { from: -1e17, to: 1e17, order: 'asc', limit: 1e6 } as const

/** What a historian has. */
export async function readLife(store: FileStore): Promise<LifeModel> {
  const page = await store.searchTags({ matches: null, foldedPrefix: '', after: null, limit: 1_000 }, signal)
  const ranges = await store.readRanges(
    page.tags.map(({ name }) => ({ tag: name, ...EVER })),
    signal,
  )
  const tags = page.tags.map(({ name, description }, i) => {
    const { times, values, statuses } = ranges[i]!.points
    const points = Array.from(
      times,
      (time, at) => [time, { value: values[at]!, isBad: statuses[at] === 1 }] as const,
    )
    return [name, { description, points: new Map(points) }] as const
  })
  return new LifeModel(new Map(tags))
}
