import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { MemoryAliasStore } from '../../src/aliases/memory-store.fixture.ts'
import type { AliasStore } from '../../src/aliases/store.ts'
import { digestOf, type KeyRecord, type KeyStore } from '../../src/config/keys.ts'
import { DEFAULT_LIMITS, type ServerSettings, type Settings } from '../../src/config/settings.ts'
import type { Historian } from '../../src/historian/contract.ts'
import { HistorianRegistry } from '../../src/historian/registry.ts'
import { createLog } from '../../src/http/log.ts'
import { createServer } from '../../src/http/server.ts'
import { type Instant, instantFromUs } from '../../src/time/instant.ts'
import { MemoryHistorian } from '../contract/memory-historian.ts'

/** 2026-01-15T12:00:00Z, the time that every test service takes for now. */
export const NOW: Instant = instantFromUs(1_768_478_400_000_000)

export const WRITE_KEY = 'test-write-key-0123456789'
export const READ_KEY = 'test-read-key-0123456789'
/** Sees the historian `local` alone. */
export const LOCAL_KEY = 'test-local-key-0123456789'
export const EXPIRED_KEY = 'test-expired-key-0123456789'
export const REVOKED_KEY = 'test-revoked-key-0123456789'

export interface TestService {
  readonly app: FastifyInstance
  /** Every line logged so far. */
  readonly logLines: () => readonly string[]
  /** Starts listening and gives the port; the service is closed when the test file ends. */
  readonly listen: () => Promise<number>
}

export interface TestOptions {
  readonly server?: Partial<ServerSettings>
  readonly settings?: Partial<Settings>
  readonly historians?: readonly Historian[]
  readonly aliases?: AliasStore
  readonly keys?: KeyStore
  readonly checkStore?: () => Promise<void>
}

/** A service over historians in memory: `local` (writable), `lab` (writable) and `plant` (not writable). */
export function testService(options: TestOptions = {}): TestService {
  const lines: string[] = []
  const log = createLog('trace', { write: (line: string) => void lines.push(line) })
  const historians = options.historians ?? [
    new MemoryHistorian('local'),
    new MemoryHistorian('lab'),
    new MemoryHistorian('plant', { writable: false }),
  ]
  const app = createServer({
    settings: settings(options),
    historians: new HistorianRegistry(historians),
    keys: options.keys ?? testKeys(),
    ...(options.checkStore && { checkStore: options.checkStore }),
    aliases: options.aliases ?? new MemoryAliasStore(),
    version: '0.0.0-test',
    clock: () => NOW,
    log,
  })
  after(() => app.close())
  const listen = async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    if (!app.server.listening) await once(app.server, 'listening')
    return (app.server.address() as AddressInfo).port
  }
  return { app, logLines: () => lines, listen }
}

function settings({ server = {}, settings = {} }: TestOptions): Settings {
  return {
    server: {
      host: '127.0.0.1',
      port: 0,
      workers: 1,
      basePath: '',
      bodyLimitBytes: 4 * 1024 ** 2,
      writeBodyLimitBytes: server.bodyLimitBytes ?? 4 * 1024 ** 2,
      maxConcurrentCalls: 64,
      maxBytesInWork: 64 * 1024 ** 2,
      callerSharePercent: 75,
      silenceSeconds: 15,
      maxConnections: 10_000,
      maxConnectionsPerAddress: 1_000,
      callsPerSecond: null,
      corsOrigins: [],
      tls: null,
      trustedProxies: [],
      metricsNeedKey: false,
      shutdownSeconds: 60,
      ...server,
    },
    dataDir: '/nowhere',
    timeZone: 'UTC',
    defaultHistorian: null,
    store: null,
    limits: DEFAULT_LIMITS,
    historians: new Map(),
    log: { level: 'info' },
    tracing: null,
    demo: false,
    ...settings,
  }
}

/** The keys of the tests, in memory. */
export function testKeys(): KeyStore {
  const records = new Map<string, KeyRecord>()
  const put = (secret: string, fields: Partial<KeyRecord> & Pick<KeyRecord, 'name' | 'scope'>) => {
    const record = {
      id: fields.name,
      historians: null,
      createdAt: 0,
      expiresAt: null,
      revokedAt: null,
      ...fields,
    }
    records.set(Buffer.from(digestOf(secret)).toString('hex'), record)
  }
  put(WRITE_KEY, { name: 'writer', scope: 'write' })
  put(READ_KEY, { name: 'reader', scope: 'read' })
  put(LOCAL_KEY, { name: 'local only', scope: 'write', historians: ['local'] })
  put(EXPIRED_KEY, { name: 'expired', scope: 'write', expiresAt: NOW })
  put(REVOKED_KEY, { name: 'revoked', scope: 'write', revokedAt: NOW })
  const unused = () => Promise.reject(new Error('the service only finds keys'))
  return {
    find: async (digest) => records.get(Buffer.from(digest).toString('hex')) ?? null,
    list: unused,
    add: unused,
    revoke: unused,
    rotate: unused,
    noteUses: async () => {},
    firstStartKeysMade: async () => true,
    addFirstStartKeys: unused,
  }
}

/** Request headers of a JSON call. */
export function jsonHeaders(key: string = WRITE_KEY): Record<string, string> {
  return { 'content-type': 'application/json', 'x-api-key': key }
}

/** Sends a JSON body and gives status, parsed answer and headers. */
export async function post(app: FastifyInstance, url: string, body: unknown, key: string = WRITE_KEY) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await app.inject({ method: 'POST', url, headers: jsonHeaders(key), payload })
  return { status: response.statusCode, body: JSON.parse(response.body), headers: response.headers }
}

export async function get(
  app: FastifyInstance,
  url: string,
  headers: Record<string, string> = { 'x-api-key': READ_KEY },
) {
  const response = await app.inject({ method: 'GET', url, headers })
  return { status: response.statusCode, text: response.body, headers: response.headers }
}

/** Tags FLOW, BIAS and TANK_LEVEL in `local`, with points around 2026-01-15T10:00Z. */
export async function seed(app: FastifyInstance): Promise<void> {
  const at = (time: string, value: number) => ({ timestamp: `2026-01-15T${time}Z`, value })
  const points = {
    'local/FLOW': [at('10:00', 10), at('10:10', 30), { ...at('10:20', 99), status: 'BAD' }, at('10:30', 50)],
    'local/BIAS': [at('10:00', 1)],
    'local/TANK_LEVEL': [at('11:59:50', 3.2)],
  }
  const { status, body } = await post(app, '/historian/write/points', { points, createTags: true })
  if (status !== 200) throw new Error(JSON.stringify(body))
}
