import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { FileHandle, Files } from './files.ts'
import { systemFiles } from './system-files.ts'

/** The files of the system, and the paths of those that are open in this layer, each as often as it is. */
export function openFiles(): { readonly files: Files; readonly paths: readonly string[] } {
  const paths: string[] = []
  const seen = (file: FileHandle): FileHandle => {
    paths.push(file.path)
    return new Proxy(file, {
      get(target, key) {
        const value = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        return (...args: readonly unknown[]) => {
          if (key === 'close') paths.splice(paths.indexOf(file.path), 1)
          return value.apply(target, args)
        }
      },
    })
  }
  const files: Files = {
    ...systemFiles,
    open: (path) => seen(systemFiles.open(path)),
    edit: (path) => seen(systemFiles.edit(path)),
    create: (path) => seen(systemFiles.create(path)),
  }
  return { files, paths }
}

/** The paths of all files that this process has open below a folder; `null` where the system does not tell. */
export function openInProcess(folder: string): readonly string[] | null {
  if (process.platform !== 'linux') return null
  return systemFiles.list('/proc/self/fd').flatMap((name) => {
    const path = targetOf(join('/proc/self/fd', name))
    return path.startsWith(folder) ? [path] : []
  })
}

/** '' for a link that is gone. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}
