import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, test } from 'node:test'
import { SERVER_LIMITS } from '../../src/errors/limits.ts'
import { findServer, freePort, serverFolder, startServer } from '../servers/required.ts'
import { until } from '../until.ts'
import { PROJECT, serve, temporaryFolder } from './run.ts'

const nginx = findServer('nginx', 'nginx', '/usr/sbin/nginx')
const caddy = findServer('Caddy', 'caddy')
const TLS = join(PROJECT, 'test', 'http', 'tls')

/** The configuration of deploy/nginx as it stands, with the ports and files of this test. */
function nginxConfig(folder: string, port: number, service: string): string {
  const site = deployed('nginx', 'tidemark.conf')
    .replace('server 127.0.0.1:8080;', `server ${service};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace('/etc/ssl/tidemark/cert.pem', join(TLS, 'cert.pem'))
    .replace('/etc/ssl/tidemark/key.pem', join(TLS, 'key.pem'))
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  return `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http { access_log off; ${places.join(' ')}
${site} }`
}

/** The configuration of deploy/caddy as it stands, with the port, the files and the certificate of this test. */
function caddyConfig(folder: string, port: number, service: string): string {
  return (
    deployed('caddy', 'Caddyfile')
      .replace('{\n', `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n`)
      // Five minutes are too long for a test.
      .replace('read_body 300s', 'read_body 6s')
      .replace('reverse_proxy 127.0.0.1:8080', `reverse_proxy ${service}`)
      .replace(
        'historians.example.com {',
        `https://127.0.0.1:${port} {\n\tbind 127.0.0.1\n\ttls ${join(TLS, 'cert.pem')} ${join(TLS, 'key.pem')}`,
      )
  )
}

const PROXIES = [
  {
    name: 'nginx',
    server: nginx,
    configFor: nginxConfig,
    argsFor: (folder: string, config: string) => ['-p', folder, '-c', config],
  },
  {
    name: 'caddy',
    server: caddy,
    configFor: caddyConfig,
    argsFor: (_folder: string, config: string) => ['run', '--adapter', 'caddyfile', '--config', config],
  },
] as const

test('the proxies take bodies as long as Tidemark does', () => {
  const { default: limit } = SERVER_LIMITS.writeBodyLimitBytes
  const [, mebibytes] = /client_max_body_size (\d+)m;/.exec(deployed('nginx', 'tidemark.conf'))!
  assert.equal(Number(mebibytes) * 1_048_576, limit)
  // With MB it would count in millions.
  const [, written] = /max_size (\d+)MiB/.exec(deployed('caddy', 'Caddyfile'))!
  assert.equal(Number(written) * 1_048_576, limit)
})

function deployed(folder: string, file: string): string {
  return readFileSync(join(PROJECT, 'deploy', folder, file), 'utf8')
}

for (const { name, server, configFor, argsFor } of PROXIES) {
  describe(`behind ${name}, as deploy/${name} sets it up`, { skip: server.skip }, async () => {
    const cwd = await temporaryFolder()
    const folder = serverFolder(name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(cwd, 'tidemark.yaml'),
      'server: {basePath: /tidemark, trustedProxies: [127.0.0.1], shutdownSeconds: 5, silenceSeconds: 3}\n',
    )
    const [port, direct] = [await freePort(), await freePort()]

    const send = (path: string, options: { key?: string; body?: string; ca?: Buffer } = {}) =>
      new Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>(
        (resolve, reject) => {
          const { key, body } = options
          const headers: Record<string, string> = { ...(key !== undefined && { 'X-Api-Key': key }) }
          if (body !== undefined) headers['Content-Type'] = 'application/json'
          const method = body === undefined ? 'GET' : 'POST'
          // Another address of this machine than that of the proxy, to be told from it.
          const to = {
            port,
            host: '127.0.0.1',
            localAddress: '127.0.0.9',
            rejectUnauthorized: false,
            path,
            method,
          }
          const sent = request({ ...to, headers }, (answer) => {
            text(answer).then(
              (received) => resolve({ status: answer.statusCode!, headers: answer.headers, body: received }),
              reject,
            )
          })
          sent.on('error', reject)
          sent.end(body)
        },
      )

    /** Announces a long body and sends the start of it. */
    const sendPart = (path: string, key: string) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        const headers = { 'X-Api-Key': key, 'Content-Type': 'application/json', 'Content-Length': 1_000_000 }
        const to = { port, host: '127.0.0.1', rejectUnauthorized: false, path, method: 'POST', headers }
        const sent = request(to, (answer) => {
          text(answer).then((received) => {
            resolve({ status: answer.statusCode!, body: received })
            sent.destroy()
          }, reject)
        })
        sent.on('error', reject)
        sent.write('{"points":')
      })

    it('answers below the base path over TLS, takes long bodies and gives long answers, and knows its clients', async () => {
      const service = await serve(['--port', String(direct)], { cwd })
      const config = join(folder, 'proxy.conf')
      writeFileSync(config, configFor(folder, port, `127.0.0.1:${direct}`))
      const proxy = await startServer({
        command: server.path!,
        args: argsFor(folder, config),
        probe: async () => (await send('/tidemark/health/live')).status === 200,
      })
      for (const path of [
        '/tidemark/docs/',
        '/tidemark/docs/static/swagger-ui.css',
        '/tidemark/openapi.json',
      ])
        assert.equal((await send(path)).status, 200, path)
      assert.equal((await send('/historian/list')).status, 404)

      const count = 90_000
      const timestamps = Array.from({ length: count }, (_, i) => 1_700_000_000 + i)
      const points = { 'local/A': { timestamps, values: timestamps.map((_, i) => i / 7), unit: 's' } }
      const body = JSON.stringify({ points, createTags: true })
      assert.ok(body.length > 2 * 1_048_576, 'longer than proxies take by themselves')
      const written = await send('/tidemark/historian/write/points', { key: service.writeKey, body })
      assert.equal(written.status, 200, written.body)
      const details = { from: 1_700_000_000, to: 1_700_100_000, maxPoints: count }
      const read = await send('/tidemark/historian/multi', {
        key: service.readKey,
        body: JSON.stringify({ requests: { a: { type: 'RAW_POINTS', tag: 'local/A', details } } }),
      })
      const answer = JSON.parse(read.body) as { results: { a: { dataPoints: { value: number }[] } } }
      assert.equal(answer.results.a.dataPoints.length, count)
      assert.equal(answer.results.a.dataPoints[count - 1]!.value, (count - 1) / 7)

      const id = read.headers['x-request-id']
      const logged = () =>
        service
          .stderr()
          .split('\n')
          .find((text) => text.includes(String(id)))
      const line = await until(logged, 'the call is logged')
      assert.equal((JSON.parse(line) as { client: string }).client, '127.0.0.9')

      // A body goes on as it comes: it is Tidemark that misses the rest of one that stops.
      const silent = await sendPart('/tidemark/historian/write/points', service.writeKey)
      assert.equal(silent.status, 408, silent.body)
      assert.match(silent.body, /BODY_SILENT/)

      // A stop lets the proxy's connections end by themselves; then it is the proxy that says so.
      assert.equal(await service.stop(), 0)
      assert.equal((await send('/tidemark/health/live')).status, 502)
      await proxy.stop()
    })
  })
}
