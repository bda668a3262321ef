import { PointsReader } from '../../../write/body/points-reader.ts'
import type { WriteCall } from '../../../write/call.ts'
import { writePoints as writeParsedPoints, writePlainPoints } from '../../../write/write-points.ts'
import type { Body } from '../../body-bytes.ts'
import { bodyCall } from '../../body-call.ts'
import { parseJson } from '../../plugins/json-bodies.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

export const writePoints: Route = {
  method: 'POST',
  path: '/historian/write/points',
  access: 'write',
  errors: 'array',
  operation,
  takesBytes: true,
  handler: (parts) => {
    const reader = new PointsReader()
    const work = async (body: unknown, call: WriteCall) => {
      const { bytes } = body as Body
      const release = () => (body as Body).release()
      try {
        const written = await writePlainPoints(bytes, call, reader, release)
        return written ?? writeParsedPoints(parseJson(bytes), call)
      } finally {
        release()
      }
    }
    return bodyCall(work)(parts)
  },
}
