import { writeSync } from 'node:fs'
import { livePaused } from './paused-life.ts'

// Run by two-owners.test.ts: lives in a folder, and stops before a call of the file layer, as a virtual machine that is
// moved does.

const TOLD = 3
const [folder, at] = [process.argv[2]!, Number(process.argv[3])]

await livePaused(
  folder,
  at,
  (line) => writeSync(TOLD, `${line}\n`),
  () => process.kill(process.pid, 'SIGSTOP'),
)
