import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** Everything comes from the service itself; Swagger UI writes styles into its elements and draws icons from data URLs. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The rendered reference at `/docs`; it works without any other network. */
export function addReference(app: FastifyInstance, document: () => object): void {
  app.register(async (scope) => {
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
      theme: { title: 'Tidemark reference' },
    })
  })
}
