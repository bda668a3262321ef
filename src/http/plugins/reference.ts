import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { readIcon } from '../explorer/assets.ts'
import { shownPath } from '../url-sanitizer.ts'

/**
 * Everything comes from the service itself; Swagger UI writes styles into its elements and draws icons from data URLs.
 */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * The files of the page stand side by side, under short names. Any other text is a file that does not exist: the file
 * server would refuse it as an error of its own.
 */
const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/

/** The rendered reference at `/docs`; it works without any other network. */
export function addReference(app: FastifyInstance, document: () => object): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', (request, _reply, done) => {
      const file = fileOf(request)
      if (file === null || FILE_NAME.test(file)) done()
      else done(new TidemarkError('PATH_NOT_FOUND', { path: shownPath(request.url) }))
    })
    await scope.register(swagger, { mode: 'static', specification: { document: document() as never } })
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      indexPrefix: app.prefix,
      uiConfig: {
        docExpansion: 'list',
        tryItOutEnabled: true,
        persistAuthorization: false,
        validatorUrl: null,
      },
      staticCSP: PAGE_POLICY,
      theme: {
        title: 'Tidemark reference',
        // The bar at its top holds the name and logo of the library alone.
        css: [{ filename: 'tidemark.css', content: '.swagger-ui .topbar { display: none }' }],
        favicon: [
          {
            filename: 'icon.svg',
            rel: 'icon',
            sizes: 'any',
            type: 'image/svg+xml',
            content: await readIcon(),
          },
        ],
      },
    })
  })
}

/** The decoded name of the file that a request is for; `null` where it is for none. */
function fileOf({ params }: FastifyRequest): string | null {
  const { '*': file } = params as { readonly '*'?: string }
  return file ?? null
}
