import { chdbServer, startChdb } from './chdb.ts'
import { type ClickhouseEngine, clickhouseServer, startClickhouse } from './clickhouse.ts'

/** A ClickHouse that statements run against. */
export interface StartableEngine {
  readonly name: string
  readonly skip: string | false
  start(): Promise<ClickhouseEngine>
}

/**
 * The ClickHouse that Debian has as a server, and today's as an engine: every statement of the driver runs against
 * both.
 */
export const ENGINES: readonly StartableEngine[] = [
  { name: 'clickhouse', skip: clickhouseServer.skip, start: startClickhouse },
  { name: 'clickhouse-today', skip: chdbServer.skip, start: startChdb },
]
