import { AddressBook, BOOK_LIMITS, WORKER_BOOK_LIMITS } from '../../../write/body/address-book.ts'
import { PointsReader } from '../../../write/body/points-reader.ts'
import { writeBody } from '../../../write/write-points.ts'
import type { Body } from '../../body-bytes.ts'
import { type BodyWork, bodyCall } from '../../body-call.ts'
import { holdValues } from '../../plugins/json-bodies.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const writePoints: Route = {
  method: 'POST',
  path: '/historian/write/points',
  access: 'write',
  errors: 'array',
  operation,
  counted: { field: 'points', limit: 'tags', code: 'LIMIT_TAGS' },
  takesBytes: true,
  handler: (parts) => {
    const { maxBytesInWork, workers } = parts.settings.server
    const reader = new PointsReader(new AddressBook(workers > 1 ? WORKER_BOOK_LIMITS : BOOK_LIMITS))
    const work: BodyWork = async (body, call, request) => {
      const { bytes } = body as Body
      const release = () => (body as Body).release()
      const hold = (values: number) => holdValues(values, bytes.length, request.work, maxBytesInWork)
      // Of many points in few bytes; one call alone may hold all.
      const holdPoints = (needed: number) => request.work?.holdBytes(Math.min(needed, maxBytesInWork))
      try {
        return await writeBody(bytes, call, reader, release, hold, holdPoints)
      } finally {
        release()
      }
    }
    return bodyCall(work)(parts)
  },
}
