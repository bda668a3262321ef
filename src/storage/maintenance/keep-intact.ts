import { damageOfPart } from '../damage.ts'
import type { Folders } from '../engine/folders.ts'
import type { Files } from '../files/files.ts'
import { tokenText } from '../ownership/ownership.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { salvagePart } from '../parts/salvage.ts'

/** Verifies parts, and writes what is intact of a damaged one to a new one, which counts in its place. */
export async function keepIntact(
  files: Files,
  folders: Folders,
  chosen: readonly PartInfo[],
  token: number,
  signal: AbortSignal,
): Promise<{
  readonly parts: readonly PartInfo[]
  readonly damaged: readonly string[]
  readonly lost: readonly string[]
}> {
  const damaged: string[] = []
  const lost: string[] = []
  const store = openPartStore(files, folders.parts, { cacheBytes: 1 << 20 })
  const kept: PartInfo[] = []
  let number = 0
  for (const info of chosen) {
    const problems = await problemsOf(store, info, signal)
    if (problems.length === 0) {
      kept.push(info)
      continue
    }
    const newName = `${tokenText(token)}-${tokenText(++number)}.part`
    const salvage = await salvagePart(files, folders.parts, { name: info.name, newName, known: info }, signal)
    lost.push(...salvage.lost.map((what) => `part ${info.name}: ${what}`))
    if (salvage.info !== null) kept.push(salvage.info)
    damaged.push(info.name)
  }
  return { parts: kept, damaged, lost }
}

async function problemsOf(store: PartStore, info: PartInfo, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const part = store.open(info)
    try {
      return (await part.check(signal)).problems
    } finally {
      part.close()
    }
  } catch (error) {
    return [damageOfPart(error).message]
  }
}
