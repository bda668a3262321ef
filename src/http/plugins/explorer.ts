import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { type Asset, explorerAssets } from '../explorer/assets.ts'
import { shownPath } from '../url-sanitizer.ts'
import { addVary, prefersGzip } from './compression.ts'

/**
 * Scripts, styles and connections only to the service itself; texts become elements only through the one policy of the
 * template library, so that a name with markup stays a name.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types lit-html',
].join('; ')

/** The files of the explorer below `/explorer/<version>/`; they hold nothing of any historian and need no key. */
export function addExplorer(app: FastifyInstance): void {
  app.get('/explorer/*', { config: { access: 'open' } }, async (request, reply) => {
    const { version, files } = await explorerAssets()
    const [wanted, ...names] = (request.params as { '*': string })['*'].split('/')
    const asset = wanted === version ? files.get(names.join('/')) : undefined
    if (asset === undefined) throw new TidemarkError('PATH_NOT_FOUND', { path: shownPath(request.url) })
    return sendAsset(request, reply, asset)
  })
}

/** Answers with the page itself. */
export async function sendExplorer(basePath: string, reply: FastifyReply): Promise<FastifyReply> {
  const { version, page } = await explorerAssets()
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', PAGE_POLICY)
    .header('cache-control', 'no-cache')
    .send(page.replaceAll('%BASE%', `${basePath}/explorer/${version}`).replaceAll('%ROOT%', `${basePath}/`))
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  reply.type(asset.type).header('cache-control', 'public, max-age=31536000, immutable')
  addVary(reply)
  if (!prefersGzip(request.headers['accept-encoding'])) return reply.send(asset.body)
  return reply.header('content-encoding', 'gzip').send(asset.gzipped)
}
