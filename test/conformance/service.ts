import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunningService, serve, temporaryFolder } from '../cli/run.ts'

// Answers are judged as a client sees them: whatever JSON came, looked into freely.
// biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what the tests are about
export type Json = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Json
}

export interface CallOptions {
  /** The API key; the write key when left out, none when null. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** A real service with its own data directory, and the ways in which a client calls it. */
export interface Conformance {
  readonly service: RunningService
  readonly folder: string
  readonly dataDir: string
  get(path: string, options?: CallOptions): Promise<Answer>
  send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    options?: CallOptions,
  ): Promise<Answer>
  post(path: string, body: unknown, options?: CallOptions): Promise<Answer>
  /** Writes points with createTags and insists that they were written; a point is [timestamp, value, status?]. */
  write(points: Readonly<Record<string, readonly (readonly [unknown, unknown, unknown?])[]>>): Promise<void>
  /** Posts to /historian/multi. */
  multi(body: unknown, options?: CallOptions): Promise<Answer>
  /** Result of one sub-request under a label of its own; fails when there was an error. */
  read(type: string, tag: string, details?: unknown, call?: Record<string, unknown>): Promise<Json>
  /** Sentence of one sub-request that is wrong; fails when it was answered. */
  refusal(type: string, tag: string, details?: unknown, call?: Record<string, unknown>): Promise<string>
}

/** Starts a service; `settings` is the text of its YAML file. */
export async function conformance(settings = ''): Promise<Conformance> {
  const folder = await temporaryFolder()
  const dataDir = join(folder, 'data')
  const config = join(folder, 'tidemark.yaml')
  await writeFile(config, `timeZone: UTC\n${settings}`)
  const service = await serve(['--config', config, '--data-dir', dataDir], { cwd: folder })

  async function send(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    { key = service.writeKey, headers = {} }: CallOptions = {},
  ): Promise<Answer> {
    const response = await fetch(service.url + path, {
      method,
      headers: { ...(key === null ? {} : { 'X-Api-Key': key }), ...headers },
      ...(body === undefined ? {} : { body: body as string }),
      redirect: 'manual',
    })
    const text = await response.text()
    const json = (response.headers.get('content-type') ?? '').includes('json')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: json && text !== '' ? JSON.parse(text) : null,
    }
  }

  const post = (path: string, body: unknown, options: CallOptions = {}) =>
    send('POST', path, JSON.stringify(body), {
      ...options,
      headers: { 'Content-Type': 'application/json', ...options.headers },
    })
  const multi = (body: unknown, options?: CallOptions) => post('/historian/multi', body, options)

  async function one(type: string, tag: string, details: unknown = {}, call: Record<string, unknown> = {}) {
    const { status, body } = await multi({ ...call, requests: { a: { type, tag, details } } })
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  return {
    service,
    folder,
    dataDir,
    get: (path, options) => send('GET', path, undefined, options),
    send,
    post,
    multi,
    write: async (points) => {
      const shaped = Object.fromEntries(
        Object.entries(points).map(([tag, list]) => [
          tag,
          list.map(([timestamp, value, status]) => ({
            timestamp,
            value,
            ...(status === undefined ? {} : { status }),
          })),
        ]),
      )
      const { status, body } = await post('/historian/write/points', { createTags: true, points: shaped })
      assert.deepEqual(body, { message: 'All points written!', errors: [] })
      assert.equal(status, 200)
    },
    read: async (type, tag, details, call) => {
      const body = await one(type, tag, details, call)
      assert.deepEqual(body.errors, {})
      return body.next === undefined ? body.results.a : { ...body.results.a, next: body.next.a }
    },
    refusal: async (type, tag, details, call) => {
      const body = await one(type, tag, details, call)
      assert.deepEqual(body.results, {}, `answered: ${JSON.stringify(body.results)}`)
      assert.equal(typeof body.errors.a, 'string')
      return body.errors.a
    },
  }
}
