import { basename, dirname } from 'node:path'
import { FailingFiles } from '../../src/storage/files/failing-files.fixture.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { newClock, openRetained, RETAINED_STEPS } from './workload.ts'

/**
 * The life of an owner that two-owners.test.ts has stand still: all steps of the workload, each told before and after.
 * Before its claim it is no owner yet: the number of the call that makes it is told, and how many there are in all.
 * @param at    number of the call of the file layer before which it stands still, looks at what is there included
 * @param stop  stands still until somebody else lets it go on
 */
export async function livePaused(
  folder: string,
  at: number,
  tell: (line: string) => void,
  stop: () => void,
): Promise<void> {
  let calls = 0
  const next = () => {
    if (calls++ !== at) return
    tell('stopped')
    stop()
  }
  const files = new FailingFiles(systemFiles, (call, path) => {
    if (call === 'create' && basename(dirname(path)) === 'owner') tell(`claims ${calls}`)
    next()
    return null
  })
  files.look = next
  try {
    const clock = newClock()
    const store = await openRetained(files, folder, clock)
    for (const [index, step] of RETAINED_STEPS.entries()) {
      tell(`begun ${index}`)
      await step.run(store, clock).then(
        () => tell(`done ${index}`),
        (error: { code?: unknown }) => tell(`refused ${index} ${String(error.code)}`),
      )
    }
    await store.close()
  } catch (error) {
    tell(`failed ${String((error as { code?: unknown }).code ?? error)}`)
  }
  tell(`ended ${calls}`)
}
