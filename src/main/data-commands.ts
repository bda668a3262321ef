import type {
  BackupChoice,
  BackupOutcome,
  CheckReport,
  RestoreChoice,
  RestoreOutcome,
  RetentionReport,
  Tools,
} from '../cli/tools.ts'
import type { Settings } from '../config/settings.ts'
import type { RepairedHistorian } from '../storage/maintenance/repair-data-directory.ts'
import type { RepairReport } from '../storage/maintenance/repair-report.ts'
import { type Instant, instantFromUs } from '../time/instant.ts'
import { loadDrivers } from './drivers.ts'
import { archivesOf, historiansElsewhere } from './stores.ts'

export async function checkData(settings: Settings, signal: AbortSignal): Promise<CheckReport> {
  const { checkDataDirectory } = await import('../storage/maintenance/check-data-directory.ts')
  const { historians, aliases, damagedAliases, system } = await checkDataDirectory(
    settings.dataDir,
    signal,
    await historiansElsewhere(settings),
  )
  const checked = historians.map(({ historian, check, failure }) => ({
    name: historian,
    tags: check?.tags ?? 0,
    points: check?.points ?? 0,
    problemCount: check?.problemCount ?? 1,
    problems: failure === null ? (check?.problems ?? []) : [failure],
  }))
  if (system.length > 0) {
    checked.push({
      name: 'keys and aliases',
      tags: 0,
      points: 0,
      problemCount: system.length,
      problems: system,
    })
  }
  if (aliases > 0) checked.push(checkedAliases(aliases, damagedAliases))
  return { historians: checked }
}

export async function repairData(
  settings: Settings,
  tell: Parameters<Tools['repairData']>[1],
  signal: AbortSignal,
): Promise<void> {
  const { makePrivateFiles } = await import('../storage/files/private-folder.ts')
  makePrivateFiles()
  const { repairDataDirectory } = await import('../storage/maintenance/repair-data-directory.ts')
  const tellOne = ({ historian, report, failure }: RepairedHistorian) =>
    tell(historian, report === null ? [failure!] : describeRepair(report))
  await repairDataDirectory(settings.dataDir, tellOne, signal, await historiansElsewhere(settings))
}

export async function backupData(
  settings: Settings,
  target: string,
  { link, since }: BackupChoice,
  signal: AbortSignal,
): Promise<BackupOutcome> {
  const { makePrivateFiles } = await import('../storage/files/private-folder.ts')
  makePrivateFiles()
  const { backupDataDirectory } = await import('../storage/maintenance/backup.ts')
  const elsewhere = await historiansElsewhere(settings)
  const mode = link ? 'link' : 'copy'
  return backupDataDirectory(settings.dataDir, target, signal, { mode, since, elsewhere })
}

/** A backup by somebody who may only read is a backup as well; the metrics do not know of it. */
export async function noteBackup({ dataDir }: Settings, at: Date): Promise<void> {
  const [{ noteBackup }, { systemFiles }] = await Promise.all([
    import('../storage/directory/backup-note.ts'),
    import('../storage/files/system-files.ts'),
  ])
  try {
    noteBackup(systemFiles, dataDir, at)
  } catch {
    // As above.
  }
}

export async function restoreData(
  settings: Settings,
  { backup, target, to, archive, historians }: RestoreChoice,
  signal: AbortSignal,
): Promise<readonly RestoreOutcome[]> {
  const { makePrivateFiles } = await import('../storage/files/private-folder.ts')
  makePrivateFiles()
  const { restoreDataDirectory } = await import('../storage/maintenance/restore.ts')
  const configured = await archivesOf(settings)
  const archiveOf = (name: string) => archive ?? configured.get(name) ?? null
  const restored = await restoreDataDirectory(backup, target, { to, only: historians, archiveOf }, signal)
  return restored.map(({ name, folder, isInside, backedUpAt, replayed }) => ({
    name,
    elsewhere: isInside ? null : folder,
    backedUpAt: instantFromUs(backedUpAt),
    lastTime: replayed === null || replayed.lastTime === null ? null : instantFromUs(replayed.lastTime),
    isReplayed: replayed !== null,
    segments: replayed?.steps.length ?? 0,
  }))
}

/** What follows from another id of the historian. */
function newIdSentence({ isLogAnew, isManifestAnew }: RepairReport): readonly string[] {
  if (isLogAnew) {
    return ['the log was written anew: earlier backups and its archive end before that, make a backup']
  }
  if (!isManifestAnew) return []
  return [
    'the manifest was made anew: earlier backups and the archive of the log end before that, make a backup',
  ]
}

function describeRepair(repair: RepairReport): readonly string[] {
  const { isSound, isRetold, aside, lost, unknown, reports, left } = repair
  if (isSound) return []
  const nothing = unknown.length === 0 ? 'nothing is lost' : 'nothing is known to be lost'
  const repaired = lost.length === 0 ? `repaired, ${nothing}` : 'repaired, but for what is lost'
  const told = lost.length === 0 ? 'what is not known' : 'what is lost'
  return [
    ...aside.map((name) => `${name} was moved to the folder damaged`),
    ...lost.map((what) => `lost: ${what}`),
    ...unknown.map((what) => `not known: ${what}`),
    ...(reports.length > 0 ? [`${told} is also written in the folder damaged: ${reports.join(', ')}`] : []),
    ...left,
    ...newIdSentence(repair),
    isRetold ? 'nothing else is damaged: this is of an earlier repair, which did not end' : repaired,
  ]
}

function checkedAliases(aliases: number, damaged: number): CheckReport['historians'][number] {
  const problems =
    damaged === 0 ? [] : ['so many aliases cannot be read: make them again, or restore a backup']
  return { name: 'aliases', tags: aliases, points: 0, problemCount: damaged, problems }
}

export async function previewRetention(
  settings: Settings,
  now: Instant,
  historian: string | null,
  signal: AbortSignal,
): Promise<RetentionReport> {
  const { historianDirectory } = await import('../storage/directory/data-directory.ts')
  const { openFileStore } = await import('../storage/engine/open-file-store.ts')
  const drivers = await loadDrivers()
  const found: RetentionReport['historians'][number][] = []
  for (const [name, { type, options }] of settings.historians) {
    const driver = drivers.get(type)!
    const rules = driver.retention?.(options) ?? []
    if (rules.length === 0 || (historian !== null && name !== historian)) continue
    const folder = driver.ownFolder?.(options) ?? historianDirectory(settings.dataDir, name)
    const store = await openFileStore(folder, { historian: name, owner: false })
    try {
      found.push({ name, ...(await store.previewRetention(rules, now, signal)) })
    } finally {
      await store.close()
    }
  }
  return { historians: found }
}
