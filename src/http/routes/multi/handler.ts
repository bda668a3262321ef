import type { FastifyReply, FastifyRequest } from 'fastify'
import { BufferPool } from '../../../multi/buffer-pool.ts'
import { type MultiAnswer, runMulti } from '../../../multi/run.ts'
import { parseTimeZone, UTC } from '../../../time/zone.ts'
import { sendChunks } from '../../chunk-stream.ts'
import { JSON_TYPE } from '../../error-answer.ts'
import { statusOfOutcome } from '../../error-status.ts'
import { logFailures } from '../../log-failures.ts'
import { MinorGc } from '../../minor-gc.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { operation } from './schema.ts'

/** Bytes of a point in columns. */
const POINT_BYTES = 17

export const multi: Route = {
  method: 'POST',
  path: '/historian/multi',
  // Dashboards of the origin post to this one.
  otherPaths: ['/historian-servlet/multi'],
  access: 'read',
  errors: 'labels',
  operation,
  counted: { field: 'requests', limit: 'labels', code: 'LIMIT_LABELS' },
  handler: ({ settings, clock, metrics }) => {
    const defaultZone = parseTimeZone(settings.timeZone) ?? UTC
    const { limits, defaultHistorian } = settings
    const pool = new BufferPool()
    const garbage = new MinorGc()
    const send = (request: FastifyRequest, reply: FastifyReply, answer: MultiAnswer) => {
      garbage.add(answer.statistics.points * POINT_BYTES)
      metrics.multiAnswered(answer.labels, answer.invalidLabels)
      logFailures(request.log, answer.failures, 'a label failed')
      reply.code(statusOfOutcome(answer.outcome))
      const whole = answer.whole?.() ?? null
      if (whole === null) return sendChunks(reply, answer.chunks(pool), pool)
      reply.type(JSON_TYPE)
      return whole
    }
    return (request, reply) => {
      const { historians } = callerOf(request)
      garbage.collect()
      const call = { historians, limits, defaultZone, defaultHistorian, now: clock(), signal: request.gone }
      const { body } = request
      // The requests of very many labels are not kept until the answer has gone out.
      request.body = undefined
      const answer = runMulti(body, call)
      if (answer instanceof Promise) return answer.then((answered) => send(request, reply, answered))
      return send(request, reply, answer)
    }
  },
}
