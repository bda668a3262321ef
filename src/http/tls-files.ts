import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Server as HttpsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Logger } from 'pino'
import { tlsProblems } from '../config/check.ts'
import type { ServerSettings } from '../config/settings.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'

type TlsSettings = NonNullable<ServerSettings['tls']>

/** How often the files are looked at. */
const LOOK_EVERY_MS = 5_000

/** Certificate and key. @throws CONFIG_INVALID when a file cannot be used, or they do not fit together */
export function readTlsFiles(tls: TlsSettings): { readonly cert: Buffer; readonly key: Buffer } {
  const [problem] = tlsProblems(tls)
  if (problem !== undefined) throw new TidemarkError('CONFIG_INVALID', { message: problem })
  return { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }
}

/**
 * Has new connections use a certificate that was renewed, without a restart. Files that do not fit together, as between
 * the writing of one and of the other, are left alone until they do; connections that are open stay as they are.
 */
export function renewCertificates(server: HttpsServer, tls: TlsSettings, log: Logger): void {
  let used = ''
  let refused = ''
  const look = async () => {
    const found = await versionOf(tls)
    if (used === '') used = found
    if (found === used || found === refused) return
    try {
      const files = readTlsFiles(tls)
      createSecureContext(files)
      server.setSecureContext(files)
      used = found
      refused = ''
      log.info({ certFile: tls.certFile }, 'the TLS certificate was read anew')
    } catch (error) {
      // Logged once for each state of the files.
      refused = found
      log.error({ err: error }, 'the TLS files changed and cannot be used: the former ones are')
    }
  }
  const timer = setInterval(() => void look().catch(() => {}), LOOK_EVERY_MS).unref()
  server.once('close', () => clearInterval(timer))
  void look().catch(() => {})
}

async function versionOf({ certFile, keyFile }: TlsSettings): Promise<string> {
  const files = await Promise.all([certFile, keyFile].map((file) => stat(file, { bigint: true })))
  return files.map(({ mtimeNs, ino, size }) => `${mtimeNs} ${ino} ${size}`).join()
}
