import type { AddressInfo } from 'node:net'
import type { Settings } from '../config/settings.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { type ErrorPlace, TidemarkError } from '../errors/tidemark-error.ts'

/** Changes of a historian that its owner makes for others, and what it alone can tell of them. */
export const CHANGES = [
  'write',
  'putTags',
  'deletePoints',
  'deleteTags',
  'renameTags',
  'checkHealth',
  'trouble',
  'measure',
] as const
export type ChangeName = (typeof CHANGES)[number]

/** An error on its way to another process: its cause stays in the log of the one that met it. */
export interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly place: ErrorPlace
}

/** What metrics of one process are, as prom-client joins them. */
export type ProcessMetrics = readonly object[]

export interface StartedWorker {
  readonly address: AddressInfo
  readonly historians: readonly { readonly name: string; readonly type: string; readonly writable: boolean }[]
}

export type ToPrimary =
  /** From now on its port may be open. */
  | { readonly type: 'opens-port' }
  | ({ readonly type: 'started' } & StartedWorker)
  | {
      readonly type: 'failed'
      readonly message: string
      readonly code: string | null
      readonly syscall: string | null
    }
  | {
      readonly type: 'change'
      readonly id: number
      readonly historian: string
      readonly change: ChangeName
      readonly args: readonly unknown[]
    }
  | { readonly type: 'moved-on'; readonly historian: string; readonly version: number }
  | { readonly type: 'cancel'; readonly id: number; readonly error: WireError }
  | { readonly type: 'metrics-wanted'; readonly id: number }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: ProcessMetrics }

export type ToWorker =
  | { readonly type: 'start'; readonly settings: Settings }
  | { readonly type: 'done'; readonly id: number; readonly result: unknown }
  | { readonly type: 'refused'; readonly id: number; readonly error: WireError }
  | { readonly type: 'metrics-wanted'; readonly id: number }
  | { readonly type: 'all-metrics'; readonly id: number; readonly all: readonly ProcessMetrics[] }
  | { readonly type: 'stop' }

/** Whatever is not ours becomes a BUG without its text. */
export function toWire(error: unknown): WireError {
  const known =
    error instanceof TidemarkError
      ? error
      : new TidemarkError('BUG', { what: 'a change failed for a reason that only the log knows' })
  return { code: known.code, message: known.message, place: known.place }
}
