import type { KeyStore } from '../config/keys.ts'
import type { HistorianTypes, StoreTypes } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import type { HistorianRegistry } from '../historian/registry.ts'

/**
 * What the commands need of the rest of the program, handed over by src/main.ts, which alone knows drivers, storage and
 * the HTTP service. Everything is loaded when it is asked for, so that `--help` stays quick.
 */
export interface Tools {
  readonly version: string
  historianTypes(): Promise<HistorianTypes>
  /** Kinds of stores for keys and aliases beside the data directory. */
  storeTypes(): Promise<StoreTypes>
  /** Opens the historians of a data directory that no service owns; DATA_DIR_IN_USE otherwise. */
  openInPlace(settings: Settings): Promise<InPlace>
  /** Opens the keys of the store, or of a data directory, also while a service owns it. */
  openKeys(settings: Settings): Promise<{ readonly keys: KeyStore; close(): Promise<void> }>
  startService(settings: Settings): Promise<Service>
  /** Reads all that is stored and says what is damaged. */
  checkData(settings: Settings, signal: AbortSignal): Promise<CheckReport>
  /**
   * Copies the data directory as of one moment, also while a service owns it.
   * @returns historians that stand in folders of their own outside of it, and where their copies are
   */
  backupData(
    settings: Settings,
    target: string,
    signal: AbortSignal,
  ): Promise<readonly { readonly name: string; readonly folder: string; readonly copy: string }[]>
}

/** Historians in a data directory, owned by this process until closed. */
export interface InPlace {
  readonly historians: HistorianRegistry
  close(): Promise<void>
}

/** A service that answers. */
export interface Service {
  /** `http://127.0.0.1:8080`, the base path included. */
  readonly url: string
  readonly historians: readonly { readonly name: string; readonly type: string; readonly writable: boolean }[]
  /** Whether anything is kept in the data directory. */
  readonly usesDataDir: boolean
  /** Keys made because there was none; they are shown this once. */
  readonly firstKeys: { readonly write: string; readonly read: string } | null
  /** The demo plant, when it is served. */
  readonly demo: DemoInfo | null
  /** Takes no more calls, finishes those it has, and closes the historians. */
  stop(): Promise<void>
}

export interface DemoInfo {
  /** A key for the demo alone, valid as long as this process lives. */
  readonly key: string
  readonly loadedPoints: number
  readonly loadSeconds: number
}

export interface CheckReport {
  readonly historians: readonly {
    readonly name: string
    readonly tags: number
    readonly points: number
    readonly problemCount: number
    /** Some of them, as sentences. */
    readonly problems: readonly string[]
  }[]
}
