import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { proxyProblems, tlsProblems } from './check.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidemark-check-'))
after(() => rmSync(folder, { recursive: true }))
const TLS = join(import.meta.dirname, '..', '..', 'test', 'http', 'tls')
const [cert, key] = [join(TLS, 'cert.pem'), join(TLS, 'key.pem')]
const garbage = join(folder, 'garbage.pem')
writeFileSync(garbage, 'nothing')

test('a certificate and its key are no problem, and neither is none', () => {
  assert.deepEqual(tlsProblems(null), [])
  assert.deepEqual(tlsProblems({ certFile: cert, keyFile: key }), [])
})

test('both files are reported at once, each by its setting', () => {
  const missing = join(folder, 'missing.pem')
  assert.deepEqual(tlsProblems({ certFile: missing, keyFile: garbage }), [
    `server.tls.certFile: cannot read ${missing} (ENOENT)`,
    `server.tls.keyFile: ${garbage} holds no private key in PEM`,
  ])
})

test('a key of another certificate is reported', (t) => {
  const other = join(folder, 'other.pem')
  const made = spawnSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', other])
  if (made.status !== 0) return t.skip('openssl is not installed')
  assert.match(tlsProblems({ certFile: cert, keyFile: other }).join(), /is not the key of the certificate/)
})

test('proxies are addresses, ranges or names of ranges', () => {
  assert.deepEqual(proxyProblems(['10.0.0.1', '10.0.0.0/8', '::1', 'fc00::/7', 'loopback']), [])
  assert.equal(proxyProblems(['proxy.example.com', '10.0.0.0/33', '10.0.0.0/']).length, 3)
})
