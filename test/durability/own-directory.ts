import { openDataDirectory } from '../../src/storage/directory/data-directory.ts'

// Run by data-directory.test.ts: becomes the owner of a data directory and stays it, or tells the code of the error.

try {
  await openDataDirectory(process.argv[2]!, { owner: true })
  process.send!('owner')
  setInterval(() => {}, 1_000)
} catch (error) {
  process.send!(String((error as { code?: unknown }).code), () => process.exit())
}
