import type { ZodType } from 'zod'
import type { Duration } from '../time/duration.ts'
import type { Historian } from './contract.ts'

/** What the program gives a driver besides its configuration. */
export interface DriverEnvironment {
  /** The historian's name, as configured. */
  readonly name: string
  /** Folder that belongs to this historian alone, inside the data directory; it need not exist yet. */
  readonly directory: string
  /**
   * What is known of it, outside of its folder, from when it was opened before; `null` or left out for a new one. A
   * folder that is missing or empty is not taken for a new historian then, nor one of another id, or an earlier state
   * of it, for it. Only for drivers that are `isLocal`.
   */
  readonly before?: {
    readonly id: string | null
    readonly token: number | null
    /** Number of the last change that was known to be on disk; `null` where none was. */
    readonly lastSequence: number | null
  } | null
  /** Called when a historian that this process alone changes was closed. Never rejects. */
  ended?(end: HistorianEnd): Promise<void>
  /** Called from time to time with what such a historian has on disk at least, whatever becomes of it. Never throws. */
  reached?(end: HistorianEnd): void
  /** Seconds that a call takes at most; left out where that is not known. */
  readonly deadlineSeconds?: number
  readonly log: DriverLog
  /** Called with every query that is sent to the historian's server; remote/meter.ts has one for tests. */
  readonly meter: DriverMeter
  /**
   * Who makes changes when another process owns the historian's directory; left out when this one does. Only for
   * drivers that are `isLocal`.
   */
  readonly owner?: HistorianOwner
}

/** What a historian had on disk when it was closed, or has at least. */
export interface HistorianEnd {
  readonly id: string
  readonly token: number
  /** Number of its last change: in any later state of it there are at least as many. */
  readonly lastSequence: number
}

/** The process that alone changes a historian's data, seen from one that reads them. */
export interface HistorianOwner {
  /**
   * Has the owner call a change of the contract by its name with these arguments; the context is the signal's. Settles
   * as the method does there, also after the signal was aborted: what became of the change is then known.
   */
  change(method: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown>
  /** Tells the owner the number of the version that this process reads from now on. */
  movedOn?(version: number): void
}

/**
 * Counts what a connected historian is sent, for /metrics and for the proof that a call costs as few queries as it
 * should. Kinds are words of the driver's own such as `read`, `write`, `metadata`: few, and nothing that came from
 * outside.
 */
export interface DriverMeter {
  /** To be called when queries go out, each try of them. */
  sent(kind: string, queries?: number): void
  /** One of them failed: no answer came, or the server refused it. Cancelled ones do not count. */
  failed(kind: string): void
}

/** The part of the program's logger that a driver may use; the fields must hold no secrets. */
export interface DriverLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** One kind of historian: its name in the configuration, what it is configured with, and how it is opened. */
export interface DriverDefinition<Config = unknown> {
  /** Value of `type` in the configuration; also the historian's `type`. */
  readonly type: string
  readonly configSchema: ZodType<Config>
  /** Whether its data stand in the data directory, where one process at a time changes them and others may read. */
  readonly isLocal?: boolean
  /**
   * Of one whose data stand in the data directory: the folder that it is configured to use instead, `null` for none.
   */
  ownFolder?(config: Config): string | null
  /**
   * Of one whose data stand in the data directory: how long it is configured to keep points, the first that matches.
   */
  retention?(config: Config): readonly { readonly match: string; readonly keep: Duration }[]
  /** Of one whose data stand in the data directory: the folder that its log is archived in, `null` for none. */
  archiveFolder?(config: Config): string | null
  /**
   * Rejects with a TidemarkError when the historian cannot be used as configured, which stops the service. A server
   * that cannot be reached now is no such reason: the historian is opened, its calls fail with HISTORIAN_UNAVAILABLE,
   * and it connects when the server is there.
   */
  open(config: Config, environment: DriverEnvironment): Promise<Historian>
}

/** Gives a driver's parts their types; does nothing else. */
export function defineDriver<Config>(definition: DriverDefinition<Config>): DriverDefinition<Config> {
  return definition
}
