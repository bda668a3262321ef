import { isObject } from '../../errors/fields.ts'
import type { CallContext, Capabilities } from '../../historian/contract.ts'
import type { Instance } from './instance.ts'

/** What the other instance says of itself and of the historian. */
export interface Discovered {
  /** Points that one call may request and fetch there. */
  readonly callPoints: number
  /** Whether the historian is writable there, and the key may write. */
  readonly writable: boolean
  readonly durability: Capabilities['durability']
  readonly atomicWrites: Capabilities['atomicWrites']
}

const DURABILITIES: readonly Capabilities['durability'][] = ['fsync', 'replicated', 'server']
const ATOMICITIES: readonly Capabilities['atomicWrites'][] = ['request', 'tag', 'none']

/**
 * Asks for what the driver adapts itself to: the state of the historian, the limits of a call (an explained call of
 * nothing names them), and whether the key may write (a write of nothing is refused to one that may not, before it is
 * looked at). Rejects when the instance cannot be asked.
 * @param upstream the historian's name there
 */
export async function discover(
  instance: Instance,
  upstream: string,
  mayWrite: boolean,
  context: CallContext,
): Promise<Discovered> {
  const [ready, explained, keyWrites] = await Promise.all([
    instance.read('discover', '/health/ready', null, context),
    instance.read('discover', '/historian/multi', '{"requests":{},"explain":true}', context),
    mayWrite ? keyMayWrite(instance, context) : false,
  ])
  const historians = Array.isArray(ready.body.historians) ? ready.body.historians.filter(isObject) : []
  const historian = historians.find(({ name }) => name === upstream)
  const explain = isObject(explained.body.explain) ? explained.body.explain : {}
  const limits = isObject(explain.limits) ? explain.limits : {}
  return {
    callPoints: Math.min(pointsOf(limits.requestedPoints), pointsOf(limits.load)),
    writable: keyWrites && historian?.writable === true,
    // Where nothing is said, the least is promised.
    durability: DURABILITIES.find((one) => one === historian?.durability) ?? 'server',
    atomicWrites: ATOMICITIES.find((one) => one === historian?.atomicWrites) ?? 'none',
  }
}

async function keyMayWrite(instance: Instance, context: CallContext): Promise<boolean> {
  const nothing = '{"points":{}}'
  const { status } = await instance
    .read('discover', '/historian/write/points', nothing, context)
    .catch((error: unknown) => {
      if ((error as { code?: unknown }).code === 'NOT_SUPPORTED') return { status: 403 }
      throw error
    })
  return status === 200
}

function pointsOf(limit: unknown): number {
  return typeof limit === 'number' && limit >= 1 ? limit : Number.POSITIVE_INFINITY
}
