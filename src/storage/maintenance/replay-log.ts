import { join } from 'node:path'
import { type ReplayPlan, type ReplayStep, segmentBytes } from '../archive/read-archive.ts'
import { foldersOf } from '../engine/folders.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import type { Files } from '../files/files.ts'
import { listManifests, ManifestWriter, readManifest } from '../manifest/manifest-file.ts'
import type { AcceptedSegment, Version } from '../manifest/version.ts'
import { segmentName } from '../wal/segment.ts'
import { claimToken } from './copy-historian.ts'
import { ReplayedWatermarks } from './replayed-watermarks.ts'

/** So many bytes of the log are replayed at a time: they come into memory. */
const ROUND_BYTES = 64 * 2 ** 20

/**
 * Takes a copy of a historian, which nobody has owned, to the moment of a plan: segments of the archive become accepted
 * ones of its log, some at a time, and are read and flushed as after a kill.
 * @param accepted  what counts of the copy's own log
 */
export async function replayLog(
  files: Files,
  root: string,
  { steps }: ReplayPlan,
  accepted: readonly AcceptedSegment[],
  signal: AbortSignal,
): Promise<void> {
  const folders = foldersOf(root)
  const copy = newestVersion(files, folders.manifest)
  // Above all that the archive has: a name of the replay must be no name of a segment.
  const token = Math.max(copy.token, ...steps.map((step) => step.token)) + 1
  claimToken(files, folders, token)
  // It is a copy still: the first flush makes a historian of its own of it.
  await writeVersion(files, folders.manifest, { ...copy, token, accepted })
  await flush(root, copy.historian)
  const watermarks = new ReplayedWatermarks(files, folders, copy.retention)
  for (const round of roundsOf(steps)) {
    const replayed: AcceptedSegment[] = []
    for (const step of round) {
      signal.throwIfAborted()
      const name = segmentName(step.token, step.segment)
      const path = join(folders.wal, name)
      files.remove(path)
      const file = files.create(path)
      try {
        await file.write(segmentBytes(files, step), 0)
        await file.sync()
      } finally {
        file.close()
      }
      replayed.push({ name, bytes: step.bytes })
    }
    files.syncFolder(folders.wal)
    const version = { ...newestVersion(files, folders.manifest), accepted: replayed }
    const retention = await watermarks.after(version)
    await writeVersion(files, folders.manifest, { ...version, retention })
    await flush(root, copy.historian)
  }
}

function* roundsOf(steps: readonly ReplayStep[]): Generator<readonly ReplayStep[]> {
  let round: ReplayStep[] = []
  let bytes = 0
  for (const step of steps) {
    if (round.length > 0 && bytes + step.bytes > ROUND_BYTES) {
      yield round
      round = []
      bytes = 0
    }
    round.push(step)
    bytes += step.bytes
  }
  if (round.length > 0) yield round
}

function newestVersion(files: Files, folder: string): Version {
  const place = listManifests(files, folder).at(-1)
  if (place === undefined) throw new Error('a copy has a manifest')
  return readManifest(files, folder, place).version
}

async function writeVersion(files: Files, folder: string, version: Version): Promise<void> {
  const same = listManifests(files, folder).filter(({ token }) => token === version.token)
  const manifest = new ManifestWriter(files, folder, version, same.at(-1)?.number ?? 0)
  await manifest.begin()
  manifest.close()
}

/** Moves what is in the log into parts. */
async function flush(root: string, historian: string): Promise<void> {
  const store = await openFileStore(root, { historian, owner: true, limits: { unlinkAfterMs: 0 } })
  try {
    await store.checkHealth(NEVER)
    await store.flush()
  } finally {
    await store.close()
  }
}

const NEVER = new AbortController().signal
