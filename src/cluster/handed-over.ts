import type { Worker } from 'node:cluster'

/** What Node's cluster sends a worker with a connection, and what the worker answers. */
interface ClusterMessage {
  readonly act?: unknown
  readonly seq?: unknown
  readonly ack?: unknown
}

/** A connection that the first process accepted, and has open until the worker says that it has it. */
interface Handle {
  close(): void
}

/**
 * Closes connections that were on their way to a worker when it ended. Node's cluster waits for the worker's answer
 * and forgets them, so that their clients would wait for ever; closed ones connect again.
 */
export function closeHandedOver({ process: child }: Worker): void {
  const underWay = new Map<unknown, Handle>()
  const send = child.send.bind(child) as (...args: unknown[]) => boolean
  child.send = ((message: ClusterMessage, handle: unknown, ...rest: unknown[]) => {
    if (message.act === 'newconn' && isHandle(handle)) underWay.set(message.seq, handle)
    return send(message, handle, ...rest)
  }) as typeof child.send
  // The event of messages that are not the program's; the types do not know it.
  child.on('internalMessage' as 'message', (message) => {
    underWay.delete((message as ClusterMessage).ack)
  })
  child.once('exit', () => {
    for (const handle of underWay.values()) handle.close()
    underWay.clear()
  })
}

function isHandle(handle: unknown): handle is Handle {
  return typeof (handle as Partial<Handle> | undefined)?.close === 'function'
}
