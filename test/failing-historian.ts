import { setImmediate } from 'node:timers/promises'
import { TidemarkError } from '../src/errors/tidemark-error.ts'
import type { Historian } from '../src/historian/contract.ts'

/** The reads of the contract, each of which may fail. */
export const READS = [
  'findTags',
  'readPoints',
  'readRanges',
  'readBoundingValues',
  'readAggregates',
  'readInterpolated',
  'readIntegrals',
  'estimatePoints',
] as const satisfies readonly (keyof Historian)[]

/** How a historian fails. */
export interface Fault {
  readonly method: (typeof READS)[number]
  /** The call of that method that fails, from 0. */
  readonly call: number
  /** Whether the calls after it fail, too, as those of a server that is gone. */
  readonly lasts: boolean
  /** `throw` is what a driver must not do, and survived all the same. */
  readonly way: 'throw' | 'reject' | 'reject later'
  readonly error: 'HISTORIAN_UNAVAILABLE' | 'STORAGE_CORRUPT' | 'plain'
}

/** Codes of the issues that a fault may lead to. */
export const FAULT_CODES: Readonly<Record<Fault['error'], string>> = {
  HISTORIAN_UNAVAILABLE: 'HISTORIAN_UNAVAILABLE',
  STORAGE_CORRUPT: 'STORAGE_CORRUPT',
  plain: 'BUG',
}

/** The same historian, which fails at a moment; `calls` is told of each failure. */
export function failing(historian: Historian, fault: Fault, onFailure: () => void = () => {}): Historian {
  let calls = 0
  const fail = (): Promise<never> => {
    onFailure()
    const error = errorOf(fault, historian.name)
    if (fault.way === 'throw') throw error
    return fault.way === 'reject' ? Promise.reject(error) : rejectLater(error)
  }
  return new Proxy(historian, {
    get: (own, name) => {
      const value = Reflect.get(own, name)
      if (typeof value !== 'function') return value
      if (name !== fault.method) return value.bind(own)
      return (...args: unknown[]) => {
        const call = calls++
        return call === fault.call || (fault.lasts && call > fault.call) ? fail() : value.apply(own, args)
      }
    },
  })
}

async function rejectLater(error: unknown): Promise<never> {
  await setImmediate()
  throw error
}

function errorOf({ error }: Fault, historian: string): Error {
  switch (error) {
    case 'HISTORIAN_UNAVAILABLE':
      return new TidemarkError(error, { historian, reason: 'connection refused' })
    case 'STORAGE_CORRUPT':
      return new TidemarkError(error, { historian, reason: 'a test' })
    case 'plain':
      return new Error('a fault that the driver did not expect')
  }
}
