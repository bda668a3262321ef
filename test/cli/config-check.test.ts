import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder, tidemark } from './run.ts'

describe('config check', async () => {
  const cwd = await temporaryFolder()
  const check = async (text: string) => {
    await writeFile(join(cwd, 'tidemark.yaml'), text)
    return tidemark(['config', 'check'], { cwd })
  }

  it('says that a good one is good, and opens nothing', async () => {
    const { code, stdout } = await check('historians: {plant: {type: embedded}, hq: {type: embedded}}')
    assert.equal(code, 0)
    assert.match(stdout, /tidemark\.yaml is valid: historians plant \(embedded\), hq \(embedded\)/)
  })

  it('tells every problem of a file at once, in all of its parts', async () => {
    const { code, stderr } = await check(`
server: {prot: 1, shutdownSeconds: -1}
timeZone: Europe/Olso
defaultHistorian: nobody
store: {type: postgers}
historians:
  a: {type: embeded}
  b: {type: embedded, pth: x}
  c: {type: postgres, host: h, database: d, user: u, password: {env: NO_SUCH_VARIABLE_1}, mode: managed, port: '\${NO_SUCH_VARIABLE_2}'}
  d: {type: influxdb}
`)
    assert.equal(code, 2)
    for (const sentence of [
      /server\.prot: this name is not known: port was meant\?/,
      /server\.shutdownSeconds: -1 is not allowed/,
      /timeZone: "Europe\/Olso" is not allowed/,
      /defaultHistorian: "nobody" is not configured: one of a, b, c, d is expected/,
      /store\.type: "postgers" is not a kind of store: postgres was meant\?/,
      /historians\.a\.type: "embeded" is not a kind of historian: embedded was meant\?/,
      /historians\.b\.pth: this name is not known/,
      /historians\.c\.port: the environment variable NO_SUCH_VARIABLE_2 is not set/,
      /historians\.d\.\w+: a value is missing/,
    ])
      assert.match(stderr, sentence)
    assert.doesNotMatch(stderr, /^ +at /m)
  })

  it('tells that two embedded historians have one folder, however it is written', async () => {
    const { code, stderr } = await check(`
historians:
  a: {type: embedded, path: plant}
  b: {type: embedded, path: ./other/../plant/}
  c: {type: embedded, path: other}
  d: {type: embedded}
`)
    assert.equal(code, 2)
    const lines = stderr.split('\n').filter((line) => line.includes('historians.'))
    assert.equal(lines.length, 1, stderr)
    assert.match(
      stderr,
      /historians\.b\.path: \.\/other\/\.\.\/plant\/ is the folder of historians\.a already: a folder of its own is expected/,
    )
  })

  it('tells what is wrong with rules of retention', async () => {
    const rules = [
      '{match: "FLOW.*", keep: 90d}',
      '{match: "*", keep: 0.5s}',
      '{match: "*", kep: 1y}',
      '{match: "", keep: forever}',
    ]
    const { code, stderr } = await check(
      `historians: {a: {type: embedded, retention: [${rules.join(', ')}]}, b: {type: embedded, retention: 1y}}`,
    )
    assert.equal(code, 2)
    const duration = 'a duration of at least 1 minute such as 90d, 6mo or 2y is expected'
    for (const sentence of [
      `historians.a.retention[1].keep: "0.5s" is not allowed: ${duration}`,
      'historians.a.retention[2].kep: this name is not known: keep was meant?',
      'historians.a.retention[3].match: "" is not allowed: a tag name of 1 to 1000 characters, * for any text and ? for one character is expected',
      `historians.a.retention[3].keep: "forever" is not allowed: ${duration}`,
      'historians.b.retention: "1y" is not allowed: a list of at most 100 rules such as {match: "*", keep: 1y} is expected',
    ])
      assert.ok(stderr.includes(sentence), `${sentence}\n${stderr}`)
    const twice = await check(
      'historians: {a: {type: embedded, retention: [{match: "A*", keep: 1y}, {match: "A*", keep: 2y}]}}',
    )
    assert.match(
      twice.stderr,
      /retention\[1\]\.match: "A\*" is not allowed: a match that no rule before it has/,
    )
    const good = await check('historians: {a: {type: embedded, retention: [{match: "*", keep: P1Y}]}}')
    assert.equal(good.code, 0)
  })

  it('tells what is wrong with files and proxies beside other problems', async () => {
    const { code, stderr } = await check(`
server: {prot: 1, tls: {certFile: none.pem, keyFile: none.pem}, trustedProxies: [proxy, 10.0.0.0/8, 3]}
limits: 3
historians: {d: {type: influxdb, url: 'http://h', database: d, user: u, metadata: {kind: own, colour: red}}}
`)
    assert.equal(code, 2)
    for (const sentence of [
      'server.prot: this name is not known: port was meant?',
      'server.trustedProxies[2]: 3 is not allowed',
      'server.trustedProxies: proxy is not allowed',
      'server.tls.certFile: cannot read ',
      'server.tls.keyFile: cannot read ',
      'limits: 3 is not allowed: names with their values are expected',
      'historians.d.user: this name is not known: one of url, database,',
      'historians.d.metadata.colour: this name is not known\n',
    ])
      assert.ok(stderr.includes(sentence), `${sentence}\n${stderr}`)
  })

  it('is what a start does first: one with a problem of files or proxies ends with 2, of several processes too', async () => {
    const text = 'server: {tls: {certFile: none.pem, keyFile: none.pem}, trustedProxies: [proxy]}'
    await writeFile(join(cwd, 'tidemark.yaml'), text)
    for (const args of [[], ['--workers', '2']]) {
      const { code, stderr } = await tidemark(['serve', '--port', '0', ...args], { cwd })
      assert.equal(code, 2, stderr)
      for (const setting of ['server.trustedProxies', 'server.tls.certFile', 'server.tls.keyFile'])
        assert.ok(stderr.includes(`  ${setting}: `), stderr)
    }
    assert.ok(!existsSync(join(cwd, 'data')))
  })

  it('says in a sentence what is no configuration at all', async () => {
    const { stderr } = await check('server: {port: 1}\n---\nserver: {port: 2}\n')
    assert.match(
      stderr,
      /tidemark\.yaml, line 2, column 1: a file holds one document, and another one begins here\n$/,
    )
    const key = await check('? [a, b]\n: 1\n')
    assert.match(key.stderr, /^.*tidemark\.yaml is not valid: \[ a, b \]: this name is not known.*\n$/)
    const folder = await tidemark(['config', 'check', '--config', '.'], { cwd })
    assert.match(folder.stderr, /^The configuration file .* cannot be read: it is a folder\n$/)
  })

  it('looks at TLS files and proxies too', async () => {
    const { code, stderr } = await check(
      'server: {tls: {certFile: none.pem, keyFile: tidemark.yaml}, trustedProxies: [proxy]}',
    )
    assert.equal(code, 2)
    assert.match(stderr, /server\.trustedProxies: proxy is not allowed/)
    assert.match(stderr, /server\.tls\.certFile: cannot read .*none\.pem \(ENOENT\)/)
    assert.match(stderr, /server\.tls\.keyFile: .*tidemark\.yaml holds no private key/)
  })
})
