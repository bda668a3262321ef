import type { CallContext } from '../../../historian/contract.ts'
import { unavailable } from '../../../historian/remote/unavailable.ts'
import type { NarrowConfig, TagsConfig, WideConfig } from '../config.ts'
import { sqlStateOf } from '../errors.ts'
import type { Server } from '../server.ts'
import { identifier } from '../text.ts'

/** A table or query of the configuration. */
export type Source = Pick<NarrowConfig | WideConfig | TagsConfig, 'schema' | 'table' | 'query'>

/** What a source is in SQL: to stand before `AS p`. */
export function fromOf({ schema, table, query }: Source): string {
  return query === undefined ? `${identifier(schema)}.${identifier(table!)}` : `(${query}\n)`
}

/** Numbers of PostgreSQL's own types. */
export const TYPE = {
  bool: 16,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  name: 19,
  float4: 700,
  float8: 701,
  varchar: 1043,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  /** A `numeric` whose values need not lie in a double's range; PostgreSQL has one number for both. */
  unboundedNumeric: -1700,
} as const

/** Digits before and after the point that every double's range has room for. */
const MOST_WHOLE_DIGITS = 308
const MOST_DECIMALS = 323

function typeOf({ type, modifier }: { readonly type: number; readonly modifier: number }): number {
  if (type !== TYPE.numeric) return type
  if (modifier < 0) return TYPE.unboundedNumeric
  const precision = ((modifier - 4) >> 16) & 0xffff
  const scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024
  return precision - scale <= MOST_WHOLE_DIGITS && scale <= MOST_DECIMALS
    ? TYPE.numeric
    : TYPE.unboundedNumeric
}

/** Types of the columns asked for, by name. */
export type ColumnTypes = ReadonlyMap<string, number>

/** Looks at tables that are there already, and says what is wrong with the configuration of them. */
export class Describer {
  readonly #server: Server
  readonly #historian: string
  readonly #context: CallContext

  constructor(server: Server, historian: string, context: CallContext) {
    this.#server = server
    this.#historian = historian
    this.#context = context
  }

  /** @param path of the source in the configuration, for sentences */
  async types(path: string, source: Source, columns: readonly string[]): Promise<ColumnTypes> {
    const select = columns.map((column) => `p.${identifier(column)}`).join(', ')
    try {
      const types = await this.#server.read('schema', this.#context, (session) =>
        session.columnTypes(`SELECT ${select} FROM ${fromOf(source)} AS p LIMIT 0`),
      )
      return new Map(columns.map((column, index) => [column, typeOf(types[index]!)]))
    } catch (error) {
      const what = source.query === undefined ? 'table' : 'query'
      const reasons: Readonly<Record<string, string>> = {
        '42P01':
          source.query === undefined
            ? `${path}.table does not exist`
            : `${path}.query reads a table that does not exist`,
        '3F000': `${path}.schema does not exist`,
        '42703': `${path} names a column that the ${what} does not have`,
        '42601': `${path}.query is not valid SQL`,
        '42501': `its user may not read ${path}.${what}`,
      }
      const reason = reasons[sqlStateOf(error)]
      throw reason === undefined ? error : this.wrong(reason, error)
    }
  }

  /** Whether a unique index says that no two rows have the same values in these columns. */
  async isUnique({ schema, table, query }: Source, columns: readonly string[]): Promise<boolean> {
    if (query !== undefined) return false
    const rows = await this.#server.read('schema', this.#context, (session) =>
      session.query(
        `SELECT 1 FROM pg_index AS i
          WHERE i.indrelid = to_regclass($1::text) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
            AND (
              SELECT array_agg(a.attname::text) FROM pg_attribute AS a
              WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::smallint[])[0:i.indnkeyatts - 1])
            ) <@ $2::text[]
          LIMIT 1`,
        [`${identifier(schema)}.${identifier(table!)}`, columns],
      ),
    )
    return rows.length > 0
  }

  /** Runs a statement that shows whether two columns can be compared. */
  async canCompare(statement: string): Promise<boolean> {
    try {
      await this.#server.read('schema', this.#context, (session) => session.query(statement))
      return true
    } catch (error) {
      if (sqlStateOf(error) === '42883') return false
      throw error
    }
  }

  wrong(reason: string, cause?: unknown): Error {
    return unavailable(this.#historian, reason, cause)
  }
}
