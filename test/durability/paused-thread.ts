import { parentPort, workerData } from 'node:worker_threads'
import { livePaused } from './paused-life.ts'

// Run by two-owners.test.ts: lives in folders, one after the other, and stands still before a call of the file layer.

/** Waited at while the thread stands still. */
const gate = new Int32Array(workerData as SharedArrayBuffer)
const tell = (line: string) => parentPort!.postMessage(line)

parentPort!.on('message', ({ folder, at }: { readonly folder: string; readonly at: number }) => {
  void livePaused(folder, at, tell, () => Atomics.wait(gate, 0, 0))
})
