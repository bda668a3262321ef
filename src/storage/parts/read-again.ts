import { type FileHandle, isDiskError } from '../files/files.ts'

/** What parts are read from. */
export type ReadHandle = Pick<FileHandle, 'size' | 'readNow' | 'read' | 'close'>

/** Makes a read again that the disk failed (EIO): what is given up afterwards is lost for good. */
export function readAgain<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!isDiskError(error)) throw error
    return read()
  }
}

/** A file whose reads are made again where the disk fails them. */
export function readingAgain(file: ReadHandle): ReadHandle {
  return {
    size: () => file.size(),
    readNow: (target, at) => readAgain(() => file.readNow(target, at)),
    read: (target, at) =>
      file.read(target, at).catch((error: unknown) => {
        if (!isDiskError(error)) throw error
        return file.read(target, at)
      }),
    close: () => file.close(),
  }
}
