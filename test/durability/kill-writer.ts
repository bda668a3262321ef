import { embedded } from '../../src/drivers/embedded/driver.ts'
import { NO_METER } from '../../src/historian/remote/meter.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { openDataDirectory } from '../../src/storage/data-directory.ts'
import { pointsOfRequest, TAGS_OF_WRITER, WRITERS } from './kill-plan.ts'

// Run by kill.test.ts: writes until it is killed, and tells each acknowledgement.

const [path, first] = process.argv.slice(2)
const log = { info() {}, warn() {}, error() {} }
const context = { signal: new AbortController().signal }

const directory = await openDataDirectory(path!, { owner: true })
const historian = await embedded.open(
  { writable: true },
  { name: 'local', directory: directory.historianDirectory('local'), log, meter: NO_METER },
)

async function writeOn(writer: number, before: number): Promise<never> {
  for (let sequence = before + 1; ; sequence++) {
    const tags = TAGS_OF_WRITER.map((tag, index) => ({
      tag: `${tag}-${writer}`,
      points: pointsOfRequest(index, sequence),
    }))
    await historian.write(writeBatch(tags, true), context)
    process.send!([writer, sequence])
  }
}

await Promise.all(
  Array.from({ length: WRITERS }, (_, writer) => writeOn(writer, (JSON.parse(first!) as number[])[writer]!)),
)
