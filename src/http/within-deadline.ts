import type { FastifyRequest } from 'fastify'
import type { CallContext } from '../historian/contract.ts'
import { Deadline, type DeadlineCode } from '../historian/deadline.ts'

/**
 * What the work of a request gives, under the deadline of all calls. Rejects with `code` when the time is up, whether
 * or not the work ends with its signal, and with CANCELLED when the client has gone.
 * @param code DEADLINE_EXCEEDED for reads, WRITE_DEADLINE_EXCEEDED for changes
 */
export async function withinDeadline<Value>(
  request: FastifyRequest,
  seconds: number,
  code: DeadlineCode,
  work: (context: CallContext) => Promise<Value>,
): Promise<Value> {
  const deadline = new Deadline(request.gone, seconds, code)
  try {
    return await deadline.race(work({ signal: deadline.signal }))
  } finally {
    deadline.done()
  }
}
