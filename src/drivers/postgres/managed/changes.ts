import { TidemarkError } from '../../../errors/tidemark-error.ts'
import type {
  CallContext,
  PutMode,
  PutOutcome,
  TagPut,
  TagRange,
  TagRename,
  WriteBatch,
} from '../../../historian/contract.ts'
import { encodeStates } from '../../../series/optional-metadata.ts'
import { bigints, booleans, doubles, integers, Parameters, texts } from '../parameters.ts'
import type { Server } from '../server.ts'
import type { Session } from '../session.ts'
import { canHold, checkStorable, literal, storableError } from '../text.ts'
import type { ManagedTables } from './layout.ts'
import { pointsById } from './points-by-id.ts'
import { LOCK_CLASS } from './schema.ts'

/** Points in one statement of a write; more are several statements of the one transaction. */
const POINTS_PER_STATEMENT = 50_000

/** Changes of Tidemark's own tables, each in one transaction. */
export class ManagedChanges {
  readonly #server: Server
  readonly #tables: ManagedTables
  readonly #historian: string

  constructor(server: Server, tables: ManagedTables, historian: string) {
    this.#server = server
    this.#tables = tables
    this.#historian = historian
  }

  async write(batch: WriteBatch, context: CallContext): Promise<void> {
    const names = [...new Set(batch.tags)]
    if (batch.createTags) for (const name of names) checkStorable(this.#historian, name, 'name', name)
    await this.#change('write', 'shared', context, async (session) => {
      const ids = await this.#idsOf(session, names)
      if (ids.size < names.length) {
        const missing = names.filter((name) => !ids.has(name))
        if (!batch.createTags) throw this.#notFound(missing[0]!)
        await this.#makeTags(session, missing)
        for (const [name, id] of await this.#idsOf(session, missing)) ids.set(name, id)
      }
      const rows = pointsById(batch, (name) => ids.get(name)!)
      const { points } = this.#tables
      for (let start = 0; start < rows.ids.length; start += POINTS_PER_STATEMENT) {
        const end = Math.min(rows.ids.length, start + POINTS_PER_STATEMENT)
        await session.query(
          `INSERT INTO ${points} AS p (time, value, tag_id, status)
            SELECT * FROM unnest($1::bigint[], $2::double precision[], $3::bigint[], $4::integer[])
            ON CONFLICT (tag_id, time) DO UPDATE SET value = excluded.value, status = excluded.status`,
          [
            bigints(rows.times.subarray(start, end)),
            doubles(rows.values.subarray(start, end)),
            bigints(rows.ids.subarray(start, end)),
            integers(rows.statuses.subarray(start, end)),
          ],
        )
      }
    })
  }

  async putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    context: CallContext,
  ): Promise<readonly PutOutcome[]> {
    const refused = new Map<TagPut, TidemarkError>()
    for (const entry of entries) {
      const refusal = this.#refusalOf(entry, mode)
      if (refusal !== null) refused.set(entry, refusal)
    }
    // Of several entries with one name the last is kept, with what it leaves as it is from those before it, but the
    // first of the creating ones.
    const wanted = new Map<string, TagPut>()
    for (const entry of entries) {
      if (!canHold(entry.name) || refused.has(entry)) continue
      const before = wanted.get(entry.name)
      if (before === undefined) wanted.set(entry.name, entry)
      else if (mode !== 'create')
        wanted.set(entry.name, { ...entry, metadata: { ...before.metadata, ...entry.metadata } })
    }
    const stored = await this.#change('metadata', 'shared', context, (session) =>
      this.#put(session, [...wanted.values()].sort(byName), mode),
    )
    return entries.map((entry) => {
      const refusal = refused.get(entry)
      if (refusal !== undefined) return refusal
      if (!stored.has(entry.name)) return mode === 'create' ? 'exists' : 'missing'
      return mode === 'create' && wanted.get(entry.name) !== entry ? 'exists' : 'stored'
    })
  }

  /** Why an entry cannot be stored. One of a name that no tag has is missing where it is to be updated. */
  #refusalOf({ name, metadata }: TagPut, mode: PutMode): TidemarkError | null {
    const error = (field: string, text: string | null) => storableError(this.#historian, name, field, text)
    return (
      (mode === 'update' ? null : error('name', name)) ??
      error('description', metadata.description) ??
      error('units', metadata.units)
    )
  }

  async deletePoints(
    ranges: readonly TagRange[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    const { tags, points } = this.#tables
    const asked = ranges.map((range, n) => ({ ...range, n })).filter(({ tag }) => canHold(tag))
    return this.#changeUnless(dryRun, 'delete', 'shared', context, async (session) => {
      const parameters = new Parameters()
      const q = [
        parameters.add(integers(asked.map(({ n }) => n)), 'integer[]'),
        parameters.add(texts(asked.map(({ tag }) => tag)), 'text[]'),
        parameters.add(bigints(asked.map(({ from }) => from)), 'bigint[]'),
        parameters.add(bigints(asked.map(({ to }) => to)), 'bigint[]'),
      ]
      const hit = `hit AS (
        SELECT p.tag_id, p.time, min(q.n) AS n FROM unnest(${q}) AS q(n, tag, lo, hi)
        JOIN ${tags} AS t ON t.name = q.tag
        JOIN ${points} AS p ON p.tag_id = t.id AND p.time >= q.lo AND p.time < q.hi
        GROUP BY p.tag_id, p.time
      )`
      const gone = `gone AS (
        DELETE FROM ${points} AS p USING hit WHERE p.tag_id = hit.tag_id AND p.time = hit.time RETURNING hit.n
      )`
      const rows = await session.query(
        dryRun
          ? `WITH ${hit} SELECT n, count(*) FROM hit GROUP BY n`
          : `WITH ${hit}, ${gone} SELECT n, count(*) FROM gone GROUP BY n`,
        parameters.values,
      )
      const counts = new Array<number>(ranges.length).fill(0)
      for (const [n, count] of rows) counts[Number(n)] = Number(count)
      return counts
    })
  }

  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    const { tags, points } = this.#tables
    return this.#changeUnless(dryRun, 'delete', 'alone', context, async (session) => {
      const ids = await this.#existing(session, names)
      const parameter = [bigints([...ids.values()])]
      const counts = new Map<number, number>()
      const counted = dryRun
        ? `SELECT p.tag_id, count(*) FROM ${points} AS p WHERE p.tag_id = ANY ($1::bigint[]) GROUP BY p.tag_id`
        : `WITH gone AS (DELETE FROM ${points} AS p WHERE p.tag_id = ANY ($1::bigint[]) RETURNING p.tag_id)
            SELECT tag_id, count(*) FROM gone GROUP BY tag_id`
      for (const [id, count] of await session.query(counted, parameter)) counts.set(Number(id), Number(count))
      if (!dryRun) await session.query(`DELETE FROM ${tags} WHERE id = ANY ($1::bigint[])`, parameter)
      return names.map((name) => counts.get(ids.get(name)!) ?? 0)
    })
  }

  async renameTags(renames: readonly TagRename[], dryRun: boolean, context: CallContext): Promise<void> {
    for (const { to } of renames) checkStorable(this.#historian, to, 'name', to)
    const { tags } = this.#tables
    await this.#changeUnless(dryRun, 'rename', 'alone', context, async (session) => {
      const ids = await this.#existing(
        session,
        renames.map(({ from }) => from),
      )
      const taken = await this.#idsOf(
        session,
        renames.map(({ to }) => to),
      )
      const seen = new Set<string>()
      for (const { to } of renames) {
        if (seen.has(to) || (taken.has(to) && !ids.has(to))) {
          throw new TidemarkError('TAG_EXISTS', { address: `${this.#historian}/${to}` })
        }
        seen.add(to)
      }
      if (dryRun) return
      // Names may change places, and no two tags may have the same one even for a moment.
      const renamed = [bigints([...ids.values()])]
      await session.query(
        `UPDATE ${tags} SET name = gen_random_uuid()::text || id WHERE id = ANY ($1::bigint[])`,
        renamed,
      )
      await session.query(
        `UPDATE ${tags} AS t SET name = q.name FROM unnest($1::bigint[], $2::text[]) AS q(id, name) WHERE t.id = q.id`,
        [bigints(renames.map(({ from }) => ids.get(from)!)), texts(renames.map(({ to }) => to))],
      )
    })
  }

  /**
   * One transaction. Transactions that add to tags run side by side; one that removes or renames tags is alone, so that
   * no points are written for a tag that goes. The lock is let go of with the transaction, and bound to these tables by
   * their number.
   */
  #change<Result>(
    kind: string,
    access: 'shared' | 'alone',
    context: CallContext,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result> {
    const lock = access === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock'
    const table = `${literal(this.#tables.points)}::regclass::oid::integer`
    const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${lock}(${LOCK_CLASS}, ${table})`
    return this.#server.change(kind, begin, context, work)
  }

  /** With `dryRun` only what is read for the change, as of one moment. */
  #changeUnless<Result>(
    dryRun: boolean,
    kind: string,
    access: 'shared' | 'alone',
    context: CallContext,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result> {
    if (!dryRun) return this.#change(kind, access, context, work)
    return this.#server.snapshot(kind, context, (reader) => reader.read(kind, context, work))
  }

  async #idsOf(session: Session, names: readonly string[]): Promise<Map<string, number>> {
    const asked = names.filter(canHold)
    if (asked.length === 0) return new Map()
    const rows = await session.query(
      `SELECT t.name, t.id FROM unnest($1::text[]) AS q(tag)
        CROSS JOIN LATERAL (SELECT name, id FROM ${this.#tables.tags} WHERE name = q.tag LIMIT 1) AS t`,
      [texts(asked)],
    )
    return new Map(rows.map(([name, id]) => [name!, Number(id)]))
  }

  async #existing(session: Session, names: readonly string[]): Promise<Map<string, number>> {
    const ids = await this.#idsOf(session, names)
    const missing = names.find((name) => !ids.has(name))
    if (missing !== undefined) throw this.#notFound(missing)
    return ids
  }

  /** In one order everywhere, so that two writers wait for each other and never both for both. */
  async #makeTags(session: Session, names: readonly string[]): Promise<void> {
    await session.query(
      `INSERT INTO ${this.#tables.tags} (name) SELECT q.name FROM unnest($1::text[]) AS q(name)
        ORDER BY q.name COLLATE "C" ON CONFLICT (name) DO NOTHING`,
      [texts(names)],
    )
  }

  /**
   * Tags that are there are changed and others inserted: an INSERT that finds its tag there uses up a number for it.
   */
  async #put(session: Session, entries: readonly TagPut[], mode: PutMode): Promise<ReadonlySet<string>> {
    if (entries.length === 0) return new Set()
    const { tags } = this.#tables
    const q = `q AS MATERIALIZED (
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::text[])
        AS q(name, description, units, stepped, max_gap, states)
    )`
    // NULL stays as it is, and an empty text clears the field.
    const kept = (column: string, from: string) =>
      `${column} = CASE WHEN ${from}.${column} IS NULL THEN t.${column} ELSE nullif(${from}.${column}, '') END`
    const set = (from: string) =>
      `description = ${from}.description, units = ${from}.units, stepped = ${from}.stepped,
        ${kept('max_gap', from)}, ${kept('states', from)}`
    const update = `changed AS (
      UPDATE ${tags} AS t SET ${set('l')} FROM (SELECT * FROM q ORDER BY q.name COLLATE "C") AS l
      WHERE t.name = l.name RETURNING t.name
    )`
    // Another one may make the tag at the same time.
    const insert = (existing: string, otherwise: string) => `made AS (
      INSERT INTO ${tags} AS t (name, description, units, stepped, max_gap, states)
      SELECT q.* FROM q WHERE NOT EXISTS (SELECT FROM ${existing} AS t WHERE t.name = q.name) ORDER BY q.name COLLATE "C"
      ON CONFLICT (name) DO ${otherwise} RETURNING t.name
    )`
    const statement = {
      create: `WITH ${q}, ${insert(tags, 'NOTHING')} SELECT name FROM made`,
      upsert: `WITH ${q}, ${update}, ${insert('changed', `UPDATE SET ${set('excluded')}`)}
        SELECT name FROM changed UNION ALL SELECT name FROM made`,
      update: `WITH ${q}, ${update} SELECT name FROM changed`,
    }[mode]
    const rows = await session.query(statement, [
      texts(entries.map(({ name }) => name)),
      texts(entries.map(({ metadata }) => metadata.description)),
      texts(entries.map(({ metadata }) => metadata.units)),
      booleans(entries.map(({ metadata }) => metadata.stepped)),
      texts(entries.map(({ metadata: { maxGap } }) => (maxGap === undefined ? null : (maxGap ?? '')))),
      texts(entries.map(({ metadata: { states } }) => (states === undefined ? null : encodeStates(states)))),
    ])
    return new Set(rows.map(([name]) => name!))
  }

  #notFound(tag: string): TidemarkError {
    return new TidemarkError('TAG_NOT_FOUND', { historian: this.#historian, tag })
  }
}

function byName(a: TagPut, b: TagPut): number {
  return a.name < b.name ? -1 : 1
}
