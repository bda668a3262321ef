import cluster from 'node:cluster'

/*
 * Loaded into a worker before anything else. Node notifies the primary of a new worker by itself, and throws when the
 * primary is gone; a worker that has none any more ends, and that is no error to be traced.
 */
const UNSENT = new Set(['EPIPE', 'ERR_IPC_CHANNEL_CLOSED', 'ECONNRESET'])

function endIfUnsent(error: NodeJS.ErrnoException): void {
  if (!UNSENT.has(error.code ?? '')) throw error
  process.exit(1)
}

// The worker takes errors of the process over, and is the one that would have no listener.
process.on('error', endIfUnsent)
cluster.worker?.on('error', endIfUnsent)
