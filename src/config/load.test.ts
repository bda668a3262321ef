// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are the placeholders of the configuration file
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { z } from 'zod'
import { type LoadOptions, loadSettings } from './load.ts'
import type { Settings } from './settings.ts'

const types = new Map([
  ['embedded', { configSchema: z.object({ writable: z.boolean().default(true) }) }],
  [
    'sql',
    {
      configSchema: z.object({
        url: z.string('a connection URL'),
        password: z.string('a text').max(8, 'at most 8 characters').optional(),
        poolSize: z.number('a number').default(4),
      }),
    },
  ],
])

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-config-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

function load(yaml: string | null, options: Partial<LoadOptions> = {}): Settings {
  if (yaml !== null) writeFileSync(join(folder, 'test.yaml'), yaml)
  return loadSettings({
    ...(yaml !== null && { file: 'test.yaml' }),
    env: {},
    directory: folder,
    types,
    ...options,
  }).settings
}

function refusal(yaml: string | null, options: Partial<LoadOptions> = {}): string {
  try {
    load(yaml, options)
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'CONFIG_INVALID')
    return (error as Error).message
  }
  assert.fail('was accepted')
}

describe('settings', () => {
  it('are served by defaults without a file', () => {
    const settings = load(null)
    assert.equal(settings.server.host, '127.0.0.1')
    assert.equal(settings.server.port, 8080)
    assert.equal(settings.server.bodyLimitBytes, 8_388_608)
    assert.equal(settings.server.writeBodyLimitBytes, 67_108_864)
    assert.equal(settings.dataDir, join(folder, 'data'))
    assert.equal(settings.defaultHistorian, 'local')
    assert.deepEqual([...settings.historians], [['local', { type: 'embedded', options: { writable: true } }]])
    assert.deepEqual(settings.limits, {
      requestedPoints: 100_000,
      historianLoad: 500_000,
      effectiveTags: 100,
      aggregateWindows: 100_000,
      labels: 100_000,
      tagNames: 10_000,
      tags: 200_000,
      ranges: 200_000,
      deadlineSeconds: 30,
    })
  })

  it('take tidemark.yaml of the working directory when no file is named', () => {
    writeFileSync(join(folder, 'tidemark.yaml'), 'server: {port: 81}')
    try {
      assert.equal(load(null).server.port, 81)
    } finally {
      rmSync(join(folder, 'tidemark.yaml'))
    }
  })

  it('are taken from the command line before the environment, and from there before the file', () => {
    const yaml = 'server: {port: 1, host: a, basePath: /x/}\ndemo: true'
    const env = { TIDEMARK_PORT: '2', TIDEMARK_HOST: 'b', TIDEMARK_DEMO: 'false', TIDEMARK_TIME_ZONE: '' }
    const settings = load(yaml, { env, flags: [{ path: 'server.port', value: '3', flag: '--port' }] })
    assert.deepEqual([settings.server.port, settings.server.host, settings.demo], [3, 'b', false])
    assert.equal(settings.server.basePath, '/x')
  })

  it('have paths relative to the place that gave them', () => {
    const inner = { file: 'sub/test.yaml', directory: join(folder, '..') }
    writeFileSync(
      join(folder, 'test.yaml'),
      'dataDir: store\nserver: {tls: {certFile: c.pem, keyFile: /k.pem}}',
    )
    const from = { ...inner, file: join(folder, 'test.yaml') }
    const settings = load(null, from)
    assert.equal(settings.dataDir, join(folder, 'store'))
    assert.deepEqual(settings.server.tls, { certFile: join(folder, 'c.pem'), keyFile: '/k.pem' })
    const flags = [{ path: 'dataDir', value: 'other', flag: '--data-dir' }]
    assert.equal(load(null, { ...from, flags }).dataDir, join(folder, '..', 'other'))
  })

  it('name no default historian when there are several, unless one is chosen', () => {
    const yaml = 'historians: {a: {type: embedded}, b: {type: embedded, writable: false}}'
    assert.equal(load(yaml).defaultHistorian, null)
    assert.equal(load(`${yaml}\ndefaultHistorian: b`).defaultHistorian, 'b')
    assert.equal(load(yaml).historians.get('b')?.options.writable, false)
    assert.match(
      refusal(`${yaml}\ndefaultHistorian: c`),
      /defaultHistorian: "c" is not configured: one of a, b is expected/,
    )
  })
})

describe('a wrong setting is named with what is allowed', () => {
  const cases: readonly [string, string, RegExp][] = [
    [
      'a number out of range',
      'limits: {deadlineSeconds: 0}',
      /limits\.deadlineSeconds: 0 is not allowed: a number above 0 is expected$/,
    ],
    [
      'a text for a number',
      'server: {port: "80"}',
      /server\.port: "80" is not allowed: a whole number from 0 to 65535 is expected$/,
    ],
    ['an unknown name', 'limit: {}', /limit: this name is not known: limits was meant\?/],
    [
      'an unknown name inside',
      'server: {bodyLimit: 5}',
      /server\.bodyLimit: this name is not known: .*bodyLimitBytes/,
    ],
    [
      'an item of a list',
      'server: {corsOrigins: [a, 5]}',
      /server\.corsOrigins\[1\]: 5 is not allowed: an origin/,
    ],
    ['a zone', 'timeZone: Mars/Olympus', /timeZone: "Mars\/Olympus" is not allowed: an IANA zone id/],
    [
      'an address of a collector with a password',
      'tracing: {endpoint: "http://me:word@collector"}',
      /tracing\.endpoint: .* is not allowed: an http or https address such as http:\/\/localhost:4318, without a user/,
    ],
    [
      'a header for a collector, which may hold a secret',
      'tracing: {endpoint: "http://collector", headers: {Authorization: "Bearer abc\\n"}}',
      /tracing\.headers\.Authorization: this value is not allowed: the text of an HTTP header is expected$/,
    ],
    [
      'spans without a collector',
      'tracing: {sampleRatio: 0.5}',
      /tracing\.endpoint: a value is missing: an http or https address/,
    ],
    [
      'a time that no timer takes',
      'server: {silenceSeconds: 3000000}',
      /server\.silenceSeconds: 3000000 is not allowed: a number above 0 and up to 3600 is expected$/,
    ],
    ['a log level', 'log: {level: loud}', /log\.level: "loud" is not allowed: one of fatal, error, warn/],
    [
      'a base path',
      'server: {basePath: "a b"}',
      /server\.basePath: "a b" is not allowed: nothing, or a path/,
    ],
    [
      'a reserved name',
      'historians: {calc: {type: embedded}}',
      /historians\.calc: this name is not allowed: .*reserved/,
    ],
    [
      'an impossible name',
      'historians: {a/b: {type: embedded}}',
      /historians\.a\/b: this name is not allowed: a name of/,
    ],
    [
      'a name that leads outside',
      'historians: {"..": {type: embedded}}',
      /this name is not allowed: a name with/,
    ],
    [
      'no type',
      'historians: {a: {}}',
      /historians\.a\.type: a value is missing: the kind of historian is expected/,
    ],
    [
      'an unknown type',
      'historians: {a: {type: embeded}}',
      /historians\.a\.type: "embeded" is not a kind of historian: embedded was meant\?/,
    ],
    ['no historian', 'historians: {}', /historians: .*at least one historian is expected/],
    [
      "an unknown name among a driver's",
      'historians: {a: {type: embedded, writeable: true}}',
      /historians\.a\.writeable: this name is not known: writable was meant\?/,
    ],
    [
      "a driver's own rule",
      'historians: {a: {type: sql, url: 5}}',
      /historians\.a\.url: 5 is not allowed: a connection URL is expected/,
    ],
    [
      'the demo beside a historian demo',
      'demo: true\nhistorians: {demo: {type: embedded}}',
      /historians\.demo: the demo/,
    ],
    ['a list for settings', '- a', /settings such as .* are expected/],
    ['a syntax error, with its line', 'server:\n  port: 1\n host: b', /test\.yaml, line 3, column \d+: /],
    [
      'a name given twice',
      'demo: true\ndemo: false',
      /test\.yaml, line 2, column 1: Map keys must be unique/,
    ],
    ['an alias to nothing', 'dataDir: *x', /test\.yaml/],
  ]
  for (const [title, yaml, expected] of cases) {
    it(title, () => assert.match(refusal(yaml), expected))
  }

  it('several problems are reported at once', () => {
    const message = refusal('server: {port: -1}\nlimits: {effectiveTags: 0.5}')
    assert.match(message, /not valid:\n {2}server\.port: -1 .*\n {2}limits\.effectiveTags: 0\.5 /)
  })

  it('an option is named as it was given', () => {
    assert.match(
      refusal(null, { flags: [{ path: 'server.port', value: 'x', flag: '--port' }] }),
      /--port: "x" is not allowed/,
    )
    assert.match(
      refusal(null, { env: { TIDEMARK_DEADLINE_SECONDS: '-1' } }),
      /TIDEMARK_DEADLINE_SECONDS: "-1" is/,
    )
  })

  it('a file that is not there', () => {
    assert.match(refusal(null, { file: 'none.yaml' }), /none\.yaml does not exist/)
    assert.match(refusal(null, { env: { TIDEMARK_CONFIG: 'no.yaml' } }), /no\.yaml does not exist/)
  })
})

describe('the store', () => {
  const stores = new Map([['sql', types.get('sql')!]])

  it('is the data directory unless another one is configured', () => {
    assert.equal(load(null, { stores }).store, null)
    assert.equal(load('store: null', { stores }).store, null)
    const { store } = load('store: {type: sql, url: "${U}", poolSize: "${N}"}', {
      stores,
      env: { U: 'db', N: '2' },
    })
    assert.deepEqual(store, { type: 'sql', options: { url: 'db', poolSize: 2 } })
  })

  it('is refused with the path of what is wrong', () => {
    assert.match(
      refusal('store: {type: slq}', { stores }),
      /store\.type: "slq" is not a kind of store: sql was meant\?/,
    )
    assert.match(refusal('store: {type: sql}'), /store\.type: "sql" is not a kind of store/)
    assert.match(refusal('store: {type: sql}', { stores }), /store\.url: .*a connection URL is expected/)
    assert.match(
      refusal('store: {type: sql, url: u, pool: 1}', { stores }),
      /store\.pool: this name is not known/,
    )
    assert.match(refusal('store: {url: u}', { stores }), /store\.type: .*the kind of store is expected/)
    assert.match(refusal('store: sql', { stores }), /store: /)
  })
})

describe('variables', () => {
  const sql = (url: string, more = '') => `historians: {a: {type: sql, url: "${url}"${more}}}`

  it('are put into texts, and stay texts', () => {
    const env = { USER_: 'me', PW: '1234', ODD: '${USER_}' }
    const options = load(sql('db://${USER_}:${PW}@h/$${x}${ODD}', ', password: "${PW}"'), {
      env,
    }).historians.get('a')
    assert.deepEqual(options?.options, { url: 'db://me:1234@h/${x}${USER_}', password: '1234', poolSize: 4 })
  })

  it('are read as numbers and as true or false where those are expected', () => {
    const yaml =
      'server: {port: "${P}", metricsNeedKey: "${M}"}\nhistorians: {a: {type: sql, url: u, poolSize: "${N}"}}'
    const settings = load(yaml, { env: { P: '99', M: 'true', N: '7' } })
    assert.deepEqual([settings.server.port, settings.server.metricsNeedKey], [99, true])
    assert.equal(settings.historians.get('a')?.options.poolSize, 7)
  })

  it('that are missing are named', () => {
    assert.match(refusal(sql('${NO}')), /historians\.a\.url: the environment variable NO is not set/)
    assert.match(refusal(sql('${NO')), /historians\.a\.url: \$\{NO is not allowed/)
  })

  it('never show what they hold', () => {
    const message = refusal(sql('u', ', password: "${PW}"'), { env: { PW: 'much too long' } })
    assert.doesNotMatch(message, /much too long/)
    assert.match(
      message,
      /historians\.a\.password: this value is not allowed: at most 8 characters is expected/,
    )
    assert.doesNotMatch(refusal('timeZone: "${Z}"', { env: { Z: 'hidden' } }), /hidden/)
  })
})
