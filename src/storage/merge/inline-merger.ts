import type { Files } from '../files/files.ts'
import type { Merger } from './merge.ts'
import { runMerge } from './run-merge.ts'

/** Merges on the thread of the caller, in slices: for tests with files of their own. */
export function inlineMerger(files: Files): Merger {
  return {
    merge: (order, signal) => runMerge(files, order, signal),
    close: async () => {},
  }
}
