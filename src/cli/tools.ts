import type { AliasView } from '../aliases/view.ts'
import type { KeyStore } from '../config/keys.ts'
import type { HistorianTypes, StoreTypes } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import type { HistorianRegistry } from '../historian/registry.ts'
import type { Instant } from '../time/instant.ts'

/**
 * Dependencies of the commands on the other parts of the program, handed over by src/main.ts, which alone knows
 * drivers, storage and the HTTP service. Everything is loaded lazily, so that `--help` stays quick.
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
  /** Rejects with StartInterrupted when a signal that ends a service ended a part of it before it answered. */
  startService(settings: Settings, firstKeys: FirstKeyPlace): Promise<Service>
  /** Asks the historians that are connected to whether they answer; those in the data directory are not opened. */
  probeHistorians(settings: Settings): Promise<readonly HistorianProbe[]>
  /** Reads all that is stored and says what is damaged. */
  checkData(settings: Settings, signal: AbortSignal): Promise<CheckReport>
  /**
   * Keeps what is intact of damaged files, and sets those aside, in a data directory that no service owns.
   * @param tell  gets what was done with a historian, and what is lost, one sentence each, before the next one is
   *              looked at: what was not told because the process was killed is told by the next repair
   */
  repairData(
    settings: Settings,
    tell: (historian: string, sentences: readonly string[]) => void,
    signal: AbortSignal,
  ): Promise<void>
  /** Works out what configured rules of retention would remove at a time, and changes nothing. */
  previewRetention(
    settings: Settings,
    now: Instant,
    /** `null` for all. */
    historian: string | null,
    signal: AbortSignal,
  ): Promise<RetentionReport>
  /** Copies the data directory as of one moment, also while a service owns it. */
  backupData(
    settings: Settings,
    target: string,
    options: BackupChoice,
    signal: AbortSignal,
  ): Promise<BackupOutcome>
  /** Notes in the data directory when its last backup was begun, for the metrics. */
  noteBackup(settings: Settings, at: Date): Promise<void>
  /** Makes a new data directory of a backup, and takes its historians to a moment with their archives. */
  restoreData(
    settings: Settings,
    choice: RestoreChoice,
    signal: AbortSignal,
  ): Promise<readonly RestoreOutcome[]>
}

/** What is restored. */
export interface RestoreChoice {
  readonly backup: string
  readonly target: string
  /** The moment; `null` for all that is archived. */
  readonly to: Instant | null
  /** Folder of the archive; `null` for those that the historians are configured with. */
  readonly archive: string | null
  /** Names of those that are taken to the moment, others stay as in the backup; `null` for all. */
  readonly historians: readonly string[] | null
}

/** A historian that was restored. */
export interface RestoreOutcome {
  readonly name: string
  /** Its folder, where it stood outside of the data directory. */
  readonly elsewhere: string | null
  readonly backedUpAt: Instant
  /** Whether its archive was replayed. */
  readonly isReplayed: boolean
  readonly segments: number
  /** When the last change that was replayed was committed; `null` for none. */
  readonly lastTime: Instant | null
}

/** How a backup takes files that never change. */
export interface BackupChoice {
  /** Whether they are linked, not copied: on the same file system, and no second copy. */
  readonly link: boolean
  /** Folder of an earlier backup, whose files are linked where they are the same; `null` for none. */
  readonly since: string | null
}

/** A number of files, and their bytes. */
interface FileCount {
  readonly files: number
  readonly bytes: number
}

export interface BackupOutcome {
  readonly copied: FileCount
  readonly linked: FileCount
  /** Linked from the earlier backup. */
  readonly reused: FileCount
  /** Those of the earlier backup that are not what they should be, and were copied anew. */
  readonly differing: FileCount
  /** Historians that stand in folders of their own outside of the data directory, and where their copies are. */
  readonly elsewhere: readonly { readonly name: string; readonly folder: string; readonly copy: string }[]
}

/** A start that a signal ended, which is no error. */
export class StartInterrupted extends Error {
  override readonly name = 'StartInterrupted'
}

export interface HistorianProbe {
  readonly name: string
  readonly type: string
  /** `not there yet` for one of this machine that was never opened. */
  readonly state: 'up' | 'down' | 'not there yet'
  /** Why it is down. */
  readonly reason: string | null
  /** What one of this machine holds; empty for others. */
  readonly details: readonly ProbeDetail[]
}

export interface ProbeDetail {
  readonly what: string
  readonly found: string | number | null
}

/** Historians in a data directory, owned by this process until closed. */
export interface InPlace {
  readonly historians: HistorianRegistry
  /** All aliases of the directory, or of the store. */
  readonly aliases: AliasView
  close(): Promise<void>
}

/**
 * Where the secrets of the first keys are kept, before the keys are stored: what is stored opens something only where
 * they are.
 */
export interface FirstKeyPlace {
  keep(keys: { readonly write: string; readonly read: string }): Promise<FirstKeys>
  /** Takes them back, when the keys were not stored after all. */
  drop(): Promise<void>
}

export type FirstKeys =
  | { readonly kind: 'shown'; readonly write: string; readonly read: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'not-made'; readonly reason: string }

/** A service that answers. */
export interface Service {
  /** `http://127.0.0.1:8080`, the base path included. */
  readonly url: string
  readonly historians: readonly { readonly name: string; readonly type: string; readonly writable: boolean }[]
  /** Whether anything is kept in the data directory. */
  readonly usesDataDir: boolean
  /** What became of the keys that a first start makes; `null` where there ever was a key. */
  readonly firstKeys: FirstKeys | null
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

/** Of each embedded historian with rules; times in microseconds since 1970. */
export interface RetentionReport {
  readonly historians: readonly {
    readonly name: string
    readonly rules: readonly {
      readonly match: string
      /** Points at or before it would go, but for the newest and the last good one of a tag. */
      readonly until: number
      readonly tags: number
      readonly points: number
      readonly bytes: number
    }[]
    /** Tags without a rule. */
    readonly keptTags: number
    readonly files: number
    readonly wholeFiles: number
    readonly smallerFiles: number
  }[]
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
