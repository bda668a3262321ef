import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { TidemarkError } from '../../errors/tidemark-error.ts'

/*
 * An instance may be a historian of another one, and that one of a third. Each call between instances says through
 * which it came, so that a historian that refers to itself is refused where the circle closes and does not fill all of
 * them with calls that wait for each other.
 */

/** Variable that gives the processes of one service the same id; the process that starts several of them sets it. */
export const INSTANCE_VARIABLE = 'TIDEMARK_INSTANCE_ID'

const ID = /^[A-Za-z0-9-]{1,64}$/

/** Name of this service in chains of calls: another one after each start, which is enough to know oneself again. */
export const INSTANCE_ID: string = givenId(process.env[INSTANCE_VARIABLE]) ?? randomUUID()

function givenId(id: string | undefined): string | null {
  return id !== undefined && ID.test(id) ? id : null
}

/** Header of a call from instance to instance: the ids of those it came through, first to last, separated by commas. */
export const HOPS_HEADER = 'x-tidemark-hops'

/** More instances in a row are a mistake, or a circle through processes that do not know each other. */
export const MAX_HOPS = 8

const NO_HOPS: readonly string[] = []

const arrived = new AsyncLocalStorage<readonly string[]>()

/**
 * The instances that a call came through, from its header.
 * @param header as it came; left out for a call of a client
 * @throws TidemarkError HOP_LOOP when this instance is among them; HOP_LIMIT when they are too many; INVALID_REQUEST
 *         for what is no list of ids
 */
export function readHops(
  header: string | readonly string[] | undefined,
  instance = INSTANCE_ID,
): readonly string[] {
  if (header === undefined) return NO_HOPS
  const hops = String(header)
    .split(',', MAX_HOPS + 1)
    .map((id) => id.trim())
  if (!hops.every((id) => ID.test(id))) {
    throw new TidemarkError('INVALID_REQUEST', {
      message: `Invalid ${HOPS_HEADER}: ids of instances, separated by commas, are expected`,
    })
  }
  if (hops.includes(instance)) throw new TidemarkError('HOP_LOOP', { instance })
  if (hops.length > MAX_HOPS) throw new TidemarkError('HOP_LIMIT', { limit: MAX_HOPS })
  return hops
}

/** Does work on behalf of a call that came through these instances, so that calls made by the work say so. */
export function afterHops<Result>(hops: readonly string[], work: () => Result): Result {
  return hops.length === 0 ? work() : arrived.run(hops, work)
}

/** Whether the work at hand is done for another instance. */
export function isForAnotherInstance(): boolean {
  return arrived.getStore() !== undefined
}

/** The header's value for a call that this instance makes in the work at hand. */
export function nextHops(): string {
  return [...(arrived.getStore() ?? []), INSTANCE_ID].join(',')
}
