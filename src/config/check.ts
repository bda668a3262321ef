import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ServerSettings } from './settings.ts'

/** Ranges that a trusted proxy may be named by. */
const NAMED_RANGES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal']

/**
 * What is wrong with settings that are valid by themselves: files that cannot be read or do not fit, addresses that are
 * none. Connects to nothing.
 * @returns a sentence for each problem, with the path of its setting
 */
export function problemsBeyondSchema({
  trustedProxies,
  tls,
}: Pick<ServerSettings, 'trustedProxies' | 'tls'>): readonly string[] {
  return [...proxyProblems(trustedProxies), ...tlsProblems(tls)]
}

/** @returns a sentence for each proxy that is neither an address nor a range */
export function proxyProblems(proxies: readonly string[]): readonly string[] {
  return proxies.flatMap((proxy) => {
    const [address = '', bits] = proxy.split('/')
    const version = isIP(address)
    const isRange =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
    if ((version !== 0 && isRange) || NAMED_RANGES.includes(proxy)) return []
    return [
      `server.trustedProxies: ${proxy} is not allowed: an IP address or a range such as 10.0.0.0/8 is expected`,
    ]
  })
}

/** @returns a sentence for each of the two files that cannot be used, or one when they do not fit together */
export function tlsProblems(tls: ServerSettings['tls']): readonly string[] {
  if (tls === null) return []
  const certificate = readAs(
    tls.certFile,
    'server.tls.certFile',
    'certificate',
    (pem) => new X509Certificate(pem),
  )
  const key = readAs(tls.keyFile, 'server.tls.keyFile', 'private key', (pem) => createPrivateKey(pem))
  const problems = [certificate, key].flatMap((outcome) => ('problem' in outcome ? [outcome.problem] : []))
  if (problems.length > 0 || 'problem' in certificate || 'problem' in key) return problems
  if (certificate.content.checkPrivateKey(key.content)) return []
  return [`server.tls: ${tls.keyFile} is not the key of the certificate in ${tls.certFile}`]
}

function readAs<Content>(file: string, setting: string, what: string, parse: (pem: Buffer) => Content) {
  let pem: Buffer
  try {
    pem = readFileSync(file)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'it cannot be read'
    return { problem: `${setting}: cannot read ${file} (${reason})` }
  }
  try {
    return { content: parse(pem) }
  } catch {
    return { problem: `${setting}: ${file} holds no ${what} in PEM` }
  }
}
