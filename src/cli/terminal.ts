import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'

/**
 * Where a command writes: results to `out`, everything said about them to `err`, so that a pipe gets results only.
 */
export interface Terminal {
  readonly out: Writable & { readonly isTTY?: boolean }
  readonly err: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  /** Output that cannot be written is not an error of this command: it has more to do than to print. */
  ignoreErrors(): void
}

/** Writes a line of the result. */
export function say(terminal: Terminal, line = ''): void {
  terminal.out.write(`${line}\n`)
}

/** Writes a line about the result. */
export function note(terminal: Terminal, line = ''): void {
  terminal.err.write(`${line}\n`)
}

/**
 * Writes and waits until a slow reader has caught up, so that a large result does not pile up in memory.
 * @throws the error of the stream, so that nothing more is read for an output that nobody gets
 */
export function writeSlowly(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

/** What became of the output of a command. */
export interface OutputErrors {
  ignore(): void
  /** Waits until all is written. The first error of standard output, `null` without one or where they are ignored. */
  first(): Promise<Error | null>
}

/**
 * Listens for the errors of both outputs, which would end the process without a listener: of a pipe whose reader has
 * gone, or a file on a full disk. Those of standard error are ignored, as there is nowhere to report them.
 */
export function listenForOutputErrors({ out, err }: Pick<Terminal, 'out' | 'err'>): OutputErrors {
  let first: Error | null = null
  let isIgnored = false
  out.on('error', (error) => {
    first ??= error
  })
  err.on('error', () => {})
  return {
    ignore() {
      isIgnored = true
    },
    async first() {
      if (isIgnored) return null
      // An empty text is written behind those that wait.
      if (out.writableLength > 0) await writeSlowly(out, '').catch(() => {})
      // The error is emitted in a later tick than that of the write.
      await setImmediate()
      return first
    },
  }
}
