import { join } from 'node:path'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openDataDirectory } from '../../src/storage/directory/data-directory.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'

// Run by two-containers.test.ts in a namespace of its own: becomes the owner of a data directory and of a historian in
// it, writes a point and stays; or tells the codes of the errors, of the historian alone, too.

const [folder, time] = [process.argv[2]!, Number(process.argv[3])]
const { signal } = new AbortController()
const codeOf = (error: unknown) => String((error as { code?: unknown }).code)

async function writeOne(): Promise<string> {
  try {
    const historian = { historian: 'plant', owner: true, limits: { reserveBytes: 0 } }
    const store = await openFileStore(join(folder, 'historians', 'plant'), historian)
    const points = makeColumns(1)
    points.times[0] = time
    await store.write(writeBatch([{ tag: 'a', points }], true), signal)
    return 'written'
  } catch (error) {
    return codeOf(error)
  }
}

const directory = await openDataDirectory(folder, { owner: true }).then(() => 'owner', codeOf)
process.send!({ pid: process.pid, directory, historian: await writeOne() })
setInterval(() => {}, 1_000)
