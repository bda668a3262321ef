import type { FileHandle, Files } from './files.ts'

/** Calls of a file that are another one's; what is left out stays as it is. */
export type ChangedCalls = Partial<Pick<FileHandle, 'read' | 'write' | 'sync' | 'syncNow'>>

/**
 * A file layer whose files have some of their calls changed.
 * @param change  what is changed of a file that was opened, edited or created, which has the calls as they were
 */
export function changedFiles(files: Files, change: (file: FileHandle) => ChangedCalls): Files {
  const changed = (file: FileHandle) => over<FileHandle>(file, change(file))
  return over(files, {
    open: (path) => changed(files.open(path)),
    edit: (path) => changed(files.edit(path)),
    create: (path) => changed(files.create(path)),
  })
}

/** An object with some methods of another one's. The others are called on itself: it may have private fields. */
function over<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
