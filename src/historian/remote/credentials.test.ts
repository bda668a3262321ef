import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { CredentialReader, credentialSchema, readCredential } from './credentials.ts'
import { readTls, tlsSchema } from './tls.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidemark-credentials-'))
after(() => rmSync(folder, { recursive: true }))

function fileWith(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const unavailable = (reason: RegExp) => (error: unknown) => {
  const { code, message } = error as { code?: string; message: string }
  assert.equal(code, 'HISTORIAN_UNAVAILABLE')
  assert.match(message, /^Historian site could not be reached: /)
  assert.match(message, reason)
  assert.ok(!message.includes(folder), 'a client is shown no path')
  return true
}

/** The same of a file, which the log names. */
const unreadable = (name: string, reason: RegExp) => (error: unknown) => {
  const { message } = (error as { cause: Error }).cause
  assert.ok(message.startsWith(`${join(folder, name)} `), message)
  return unavailable(reason)(error)
}

describe('the configuration says where a secret stands', () => {
  test('in a variable or in a file, one of them', () => {
    for (const credential of [{ env: 'SITE_KEY' }, { file: '/run/secrets/site' }]) {
      assert.deepEqual(credentialSchema.parse(credential), credential)
    }
  })

  test('and never the secret itself', () => {
    const wrong = [
      'tdm_secret',
      null,
      {},
      { env: 'A', file: 'b' },
      { env: 'a b' },
      { env: '' },
      { file: '' },
      { value: 'x' },
    ]
    for (const input of wrong)
      assert.equal(credentialSchema.safeParse(input).success, false, JSON.stringify(input))
  })
})

test('a secret is read from its variable or file, without line breaks at its end', async () => {
  assert.equal(await readCredential({ env: 'KEY' }, 'site', { KEY: 'abc' }), 'abc')
  const file = fileWith('secret', ' a b\r\n\n')
  assert.equal(await readCredential({ file }, 'site', {}), ' a b')
})

test('a secret that is missing, empty or not readable is reported by its place alone', async () => {
  await assert.rejects(readCredential({ env: 'KEY' }, 'site', {}), unavailable(/variable KEY .* is not set$/))
  await assert.rejects(readCredential({ env: 'KEY' }, 'site', { KEY: '' }), unavailable(/is not set$/))
  const read = (file: string) => readCredential({ file }, 'site', {})
  const none = unreadable('none', /: the file with its credentials cannot be read \(ENOENT\)$/)
  await assert.rejects(read(join(folder, 'none')), none)
  await assert.rejects(read(folder), unavailable(/cannot be read \(EISDIR\)$/))
  await assert.rejects(read(fileWith('empty', '\n')), unreadable('empty', /is empty$/))
  await assert.rejects(read(fileWith('large', 'x'.repeat(65_537))), unreadable('large', /is too large$/))
})

test('a secret is kept until it is forgotten, and a failure is not kept', async () => {
  const file = join(folder, 'changing')
  const reader = new CredentialReader({ file }, 'site')
  await assert.rejects(reader.read(), unavailable(/ENOENT/))
  fileWith('changing', 'one')
  assert.equal(await reader.read(), 'one')
  fileWith('changing', 'two')
  assert.equal(await reader.read(), 'one')
  reader.forget()
  assert.equal(await reader.read(), 'two')
  assert.equal(await reader.hasChanged('two'), false)
  fileWith('changing', 'three')
  assert.deepEqual(await Promise.all([reader.hasChanged('two'), reader.hasChanged('two')]), [true, true])
  assert.equal(await reader.hasChanged('two'), true, 'also after another call looked anew')
  assert.equal(await reader.read(), 'three')
})

test('certificates are read from their files, and a file that is not there is named', async () => {
  const settings = tlsSchema.parse({
    caFile: fileWith('ca', 'CA'),
    certFile: fileWith('cert', 'CERT'),
    keyFile: fileWith('key', 'KEY'),
    servername: 'hq',
  })
  const { ca, cert, key, ...rest } = await readTls(settings, 'site')
  assert.deepEqual([ca, cert, key].map(String), ['CA', 'CERT', 'KEY'])
  assert.deepEqual(rest, { rejectUnauthorized: true, servername: 'hq' })
  assert.deepEqual(await readTls(tlsSchema.parse({ rejectUnauthorized: false }), 'site'), {
    rejectUnauthorized: false,
  })
  await assert.rejects(
    readTls(tlsSchema.parse({ caFile: join(folder, 'no') }), 'site'),
    unavailable(/certificates cannot/),
  )
  assert.equal(tlsSchema.safeParse({ certFile: 'a' }).success, false)
})
