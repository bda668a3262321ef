import { writeBatch } from '../../src/historian/write-batch.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import type { KillRequest } from './kill-plan.ts'

/** Makes the change that a request of the plan asks for. */
export function makeRequest(store: FileStore, request: KillRequest, signal: AbortSignal): Promise<unknown> {
  switch (request.kind) {
    case 'write':
      return store.write(writeBatch(request.tags, true), signal)
    case 'delete':
      return store.deletePoints(request.ranges, false, signal)
    case 'rename':
      return store.renameTags([{ from: request.from, to: request.to }], false, signal)
    case 'describe':
      return store.putTags(
        request.tags.map((name) => ({ name, description: request.description, units: null, stepped: false })),
        'upsert',
        signal,
      )
    case 'drop':
      return store.deleteTags(request.tags, false, signal)
  }
}
