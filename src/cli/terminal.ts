import { once } from 'node:events'
import type { Writable } from 'node:stream'

/**
 * Where a command writes: results to `out`, everything said about them to `err`, so that a pipe gets results only.
 */
export interface Terminal {
  readonly out: Writable & { readonly isTTY?: boolean }
  readonly err: Writable & { readonly isTTY?: boolean; readonly columns?: number }
}

/** Writes a line of the result. */
export function say(terminal: Terminal, line = ''): void {
  terminal.out.write(`${line}\n`)
}

/** Writes a line about the result. */
export function note(terminal: Terminal, line = ''): void {
  terminal.err.write(`${line}\n`)
}

/** Writes and waits until a slow reader has caught up, so that a large result does not pile up in memory. */
export async function writeSlowly(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}
