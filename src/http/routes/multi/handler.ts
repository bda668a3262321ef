import type { FastifyReply, FastifyRequest } from 'fastify'
import { type MultiAnswer, runMulti } from '../../../multi/run.ts'
import { Sheets } from '../../../multi/sheets.ts'
import { parseTimeZone, UTC } from '../../../time/zone.ts'
import { JSON_TYPE } from '../../error-answer.ts'
import { statusOfOutcome } from '../../error-status.ts'
import { sendPieces } from '../../pieces.ts'
import { callerOf } from '../../plugins/authentication.ts'
import type { Route } from '../../route.ts'
import { YoungMemory } from '../../young-memory.ts'
import { operation } from './schema.ts'

/** Bytes of a point in columns. */
const POINT_BYTES = 17

export const multi: Route = {
  method: 'POST',
  path: '/historian/multi',
  access: 'read',
  errors: 'object',
  operation,
  handler: ({ settings, clock, metrics }) => {
    const defaultZone = parseTimeZone(settings.timeZone) ?? UTC
    const { limits, defaultHistorian } = settings
    const sheets = new Sheets()
    const young = new YoungMemory()
    const send = (request: FastifyRequest, reply: FastifyReply, answer: MultiAnswer) => {
      young.add(answer.statistics.points * POINT_BYTES)
      metrics.multiAnswered(answer.labels, answer.wrongLabels)
      for (const failure of answer.failures) request.log.warn({ err: failure }, 'a label failed')
      reply.code(statusOfOutcome(answer.outcome))
      const whole = answer.whole?.() ?? null
      if (whole === null) return sendPieces(reply, answer.pieces(sheets), sheets)
      reply.type(JSON_TYPE)
      return whole
    }
    return (request, reply) => {
      const { historians } = callerOf(request)
      young.collect()
      const call = { historians, limits, defaultZone, defaultHistorian, now: clock(), signal: request.gone }
      const answer = runMulti(request.body, call)
      if (answer instanceof Promise) return answer.then((answered) => send(request, reply, answered))
      return send(request, reply, answer)
    }
  },
}
