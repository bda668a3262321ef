import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunningService, serve, temporaryFolder } from '../../cli/run.ts'
import { freePort } from '../../servers/required.ts'
import { until } from '../../until.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
type Json = any

/**
 * Services that know each other: their keys are made by a first start, and their historians configured for the second.
 */
export class Plant {
  readonly #services = new Map<string, PlantService>()

  /** Makes a service with an embedded historian `local`, which ends at once; `start` brings it back. */
  async add(name: string): Promise<void> {
    const folder = await temporaryFolder()
    const port = await freePort()
    const service = await serve(['--port', String(port)], { cwd: folder })
    const { writeKey, readKey } = service
    await service.stop()
    this.#services.set(name, { folder, port, writeKey, readKey, running: null })
  }

  /** Starts a service with `local` and historians that lead to others: name here to `[service, historian there]`. */
  async start(
    name: string,
    peers: Readonly<Record<string, readonly [service: string, historian: string]>> = {},
    options: { readonly more?: string; readonly settings?: string } = {},
  ): Promise<RunningService> {
    const service = this.#of(name)
    const env: Record<string, string> = {}
    const lines = ['historians:', '  local: {type: embedded}']
    for (const [peer, [other, historian]] of Object.entries(peers)) {
      const { port, writeKey } = this.#of(other)
      const variable = `PEER_${peer.toUpperCase()}_KEY`
      env[variable] = writeKey
      lines.push(
        `  ${peer}: {type: tidemark, url: "http://127.0.0.1:${port}", historian: ${historian}, key: {env: ${variable}}, writable: true ${options.more ?? ''}}`,
      )
    }
    await writeFile(join(service.folder, 'tidemark.yaml'), `${options.settings ?? ''}\n${lines.join('\n')}\n`)
    const running = await serve(['--port', String(service.port)], { cwd: service.folder, env })
    service.running = running
    return running
  }

  async stop(name: string): Promise<void> {
    await this.#of(name).running!.stop()
  }

  async post(name: string, path: string, body: unknown): Promise<{ status: number; body: Json }> {
    const { running, writeKey } = this.#of(name)
    return running!.post(path, body, writeKey)
  }

  async multi(name: string, requests: object, more: object = {}): Promise<Json> {
    const { body } = await this.post(name, '/historian/multi', { requests, ...more })
    return body
  }

  async write(name: string, points: object): Promise<void> {
    const { status, body } = await this.post(name, '/historian/write/points', { createTags: true, points })
    assert.equal(status, 200, JSON.stringify(body))
  }

  async ready(name: string): Promise<Json> {
    const { running, writeKey } = this.#of(name)
    const answer = await fetch(`${running!.url}/health/ready`, { headers: { 'X-Api-Key': writeKey } })
    return answer.json()
  }

  /** Waits until a service says of a historian what is expected. */
  async until(name: string, historian: string, state: 'up' | 'down'): Promise<Json> {
    const look = async () => {
      const { historians } = await this.ready(name)
      const found = historians.find((one: Json) => one.name === historian)
      return found?.state === state && found
    }
    return until(look, `${historian} is ${state}`, 100)
  }

  /** Value of a counter at /metrics, with all labels of a line that match; 0 without one. */
  async metric(name: string, line: RegExp): Promise<number> {
    const { running, writeKey } = this.#of(name)
    const answer = await fetch(`${running!.url}/metrics`, { headers: { 'X-Api-Key': writeKey } })
    const lines = (await answer.text()).split('\n').filter((text) => line.test(text))
    return lines.reduce((sum, text) => sum + Number(text.split(' ').at(-1)), 0)
  }

  #of(name: string): PlantService {
    const service = this.#services.get(name)
    assert.ok(service !== undefined, name)
    return service
  }
}

interface PlantService {
  readonly folder: string
  readonly port: number
  readonly writeKey: string
  readonly readKey: string
  running: RunningService | null
}
