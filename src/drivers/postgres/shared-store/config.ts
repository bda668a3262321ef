import { z } from 'zod'
import { postgresConfigSchema } from '../config.ts'

const COUNT = 'a whole number from 1 to 100'
const SECONDS = 'a number of seconds above 0, up to 60'

/** Configuration of a store in PostgreSQL, besides its type: the connection is that of a postgres historian. */
export const postgresStoreSchema = postgresConfigSchema
  .pick({
    host: true,
    port: true,
    database: true,
    user: true,
    password: true,
    tls: true,
    connectSeconds: true,
    schema: true,
  })
  .extend({
    connections: z.int(COUNT).min(1, COUNT).max(100, COUNT).default(4),
    /** Every call waits for its key: less than a historian may take. */
    timeoutSeconds: z.number(SECONDS).gt(0, SECONDS).max(60, SECONDS).default(5),
  })

export type PostgresStoreConfig = z.infer<typeof postgresStoreSchema>
