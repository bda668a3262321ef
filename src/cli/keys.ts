import type { Command } from 'commander'
import { findKey, type KeyRecord, type KeyScope, type KeyStore } from '../config/keys.ts'
import { formatInstant } from '../time/format.ts'
import { instantFromUs } from '../time/instant.ts'
import { systemTimeZone } from '../time/zone.ts'
import { presentInstant } from './clock.ts'
import {
  addSettingsOptions,
  type CommandContext,
  loadCommandSettings,
  type SettingsOptions,
} from './context.ts'
import { CommandError, usageError } from './exit.ts'
import { listOption, option } from './options.ts'
import { formatTable } from './table.ts'
import { note, say } from './terminal.ts'

interface CreateOptions extends SettingsOptions {
  readonly name?: string
  readonly scope?: KeyScope
  readonly historians?: readonly string[]
  readonly expires?: string
  readonly json?: boolean
}

interface RotateOptions extends SettingsOptions {
  readonly grace?: string
  readonly expires?: string
  readonly json?: boolean
}

interface JsonOptions extends SettingsOptions {
  readonly json?: boolean
}

const MAX_NAME = 100

export function addKeysCommand(program: Command, context: CommandContext): void {
  const keys = program
    .command('keys')
    .summary('create, list, rotate and revoke API keys')
    .description(
      'Manages the API keys of a data directory, or of the configured store. A running service sees every change within a second.',
    )

  addSettingsOptions(keys.command('create'))
    .summary('create a key and show it, once')
    .description('Creates a key and shows it. It is shown this once: only a digest of it is kept.')
    .addOption(option('--name <name>', 'what the key is for; no two usable keys have the same'))
    .addOption(option('--scope <scope>', 'read, or write, which includes read').choices(['read', 'write']))
    .addOption(listOption('--historians <names>', 'the only historians that the key sees (default: all)'))
    .addOption(
      option('--expires <when>', 'a duration such as 90d or a time such as 2027-01-01 (default: never)'),
    )
    .addOption(option('--json', 'print the key and its record as JSON'))
    .addHelpText(
      'after',
      `
Examples:
  tidemark keys create --name dashboards --scope read
  tidemark keys create --name collector --scope write --historians local --expires 90d`,
    )
    .action((options: CreateOptions) => createKey(options, context))

  addSettingsOptions(keys.command('list'))
    .summary('list the keys, without their secrets')
    .description('Lists all keys, those revoked and expired too. What a key itself was is not kept.')
    .addOption(option('--json', 'print the records as JSON'))
    .addHelpText('after', '\nExample:\n  tidemark keys list')
    .action((options: JsonOptions) => listKeys(options, context))

  addSettingsOptions(keys.command('rotate'))
    .summary('put a new key in the place of one')
    .description(
      'Makes a new key with the name, scope and historians of one, and shows it, once. The old one goes on for a while, named NAME~ID ' +
        'in lists and in the log, so that its users can be found.',
    )
    .argument('<key>', 'id or name')
    .addOption(
      option('--grace <duration>', 'how long the old key still opens, 0s for not at all (default: 1d)'),
    )
    .addOption(
      option(
        '--expires <when>',
        'end of the new key, as for create (default: it lasts as long as the old one was made for)',
      ),
    )
    .addOption(option('--json', 'print the new key and both records as JSON'))
    .addHelpText('after', '\nExample:\n  tidemark keys rotate dashboards --grace 7d')
    .action((key: string, options: RotateOptions) => rotateKey(key, options, context))

  addSettingsOptions(keys.command('revoke'))
    .summary('make a key useless, for ever')
    .description('Revokes a key by its id or its name.')
    .argument('<key>', 'id or name')
    .addOption(option('--json', 'print the record as JSON'))
    .addHelpText('after', '\nExample:\n  tidemark keys revoke dashboards')
    .action((key: string, options: JsonOptions) => revokeKey(key, options, context))
}

async function createKey(options: CreateOptions, context: CommandContext): Promise<void> {
  const { name, scope } = options
  if (name === undefined || scope === undefined) {
    throw usageError('A key needs --name and --scope: tidemark keys create --name dashboards --scope read')
  }
  if (name.trim() === '' || name.length > MAX_NAME || /\p{Cc}/u.test(name)) {
    throw usageError(`--name: 1 to ${MAX_NAME} characters are expected, without control characters`)
  }
  const { makeKey, makeKeyRecord } = await import('../config/keys.ts')
  const { parseExpiry } = await import('./expiry.ts')
  const expiresAt = options.expires === undefined ? null : parseExpiry(options.expires)
  await withKeys(options, context, async (keys, historians) => {
    for (const historian of options.historians ?? []) {
      if (!historians.includes(historian)) {
        throw usageError(
          `--historians: ${historian} is not configured: one of ${historians.join(', ')} is expected`,
        )
      }
    }
    const { secret, digest } = makeKey()
    const record = makeKeyRecord(
      { name, scope, historians: options.historians ?? null, expiresAt },
      presentInstant(),
    )
    await keys.add(record, digest)
    const { terminal } = context
    if (options.json === true) {
      say(terminal, JSON.stringify({ key: secret, ...printableRecord(record) }, null, 2))
      return
    }
    say(terminal, secret)
    note(
      terminal,
      `Key ${record.name} (id ${record.id}, scope ${record.scope}) is created. It is shown this once: keep it now.`,
    )
  })
}

async function listKeys(options: JsonOptions, context: CommandContext): Promise<void> {
  await withKeys(options, context, async (keys) => {
    const records = await keys.list()
    if (options.json === true) {
      say(context.terminal, JSON.stringify(records.map(printableRecord), null, 2))
      return
    }
    if (records.length === 0) {
      note(
        context.terminal,
        'There are no keys yet: the first start of the service makes two, keys create makes more.',
      )
      return
    }
    const rows = records.map((record) => [
      record.id,
      record.name,
      record.scope,
      record.historians?.join(', ') ?? 'all',
      showTime(record.createdAt),
      record.expiresAt === null ? 'never' : showTime(record.expiresAt),
      record.lastUsedAt === undefined ? 'never' : showTime(record.lastUsedAt),
      stateOf(record),
    ])
    context.terminal.out.write(
      formatTable(['id', 'name', 'scope', 'historians', 'created', 'expires', 'last used', 'state'], rows),
    )
  })
}

async function rotateKey(key: string, options: RotateOptions, context: CommandContext): Promise<void> {
  const { makeKey, makeKeyRecord } = await import('../config/keys.ts')
  const { parseExpiry, parseGrace } = await import('./expiry.ts')
  const oldExpiresAt = parseGrace(options.grace ?? '1d')
  const wanted = options.expires === undefined ? null : parseExpiry(options.expires)
  await withKeys(options, context, async (keys) => {
    const found = findKey(
      (await keys.list()).map((record) => ({ record })),
      key,
    )
    const now = presentInstant()
    const { secret, digest } = makeKey()
    const old = found?.record
    const lastsUs = old === undefined || old.expiresAt === null ? null : old.expiresAt - old.createdAt
    const expiresAt = wanted ?? (lastsUs === null ? null : now + lastsUs)
    // Name, scope and historians are those of the old key.
    const record = makeKeyRecord({ name: '', scope: 'read', historians: null, expiresAt }, now)
    const rotation = await keys.rotate(key, { record, digest }, oldExpiresAt)
    if (rotation === null) throw noSuchKey(key)
    const { terminal } = context
    if (options.json === true) {
      const [made, before] = [rotation.replacement, rotation.old].map(printableRecord)
      say(terminal, JSON.stringify({ key: secret, ...made, old: before }, null, 2))
      return
    }
    say(terminal, secret)
    note(
      terminal,
      `Key ${rotation.replacement.name} (id ${rotation.replacement.id}) is created. It is shown this once: keep it now. ` +
        `The old one opens until ${showTime(rotation.old.expiresAt!)}, as ${rotation.old.name}.`,
    )
  })
}

function noSuchKey(key: string): CommandError {
  return new CommandError(
    `There is no usable key with the id or name ${key}; tidemark keys list shows those there are`,
  )
}

async function revokeKey(key: string, options: JsonOptions, context: CommandContext): Promise<void> {
  await withKeys(options, context, async (keys) => {
    const record = await keys.revoke(key)
    if (record === null) {
      throw new CommandError(
        `There is no key with the id or name ${key}; tidemark keys list shows those there are`,
      )
    }
    if (options.json === true) say(context.terminal, JSON.stringify(printableRecord(record), null, 2))
    else say(context.terminal, `Key ${record.name} (id ${record.id}) is revoked.`)
  })
}

async function withKeys(
  options: SettingsOptions,
  context: CommandContext,
  work: (keys: KeyStore, historians: readonly string[]) => Promise<void>,
): Promise<void> {
  const { settings } = await loadCommandSettings(options, context)
  const { DEMO_HISTORIAN } = await import('../config/historian-names.ts')
  const opened = await context.tools.openKeys(settings)
  try {
    await work(opened.keys, [...settings.historians.keys(), DEMO_HISTORIAN])
  } finally {
    await opened.close()
  }
}

function stateOf({ revokedAt, expiresAt }: KeyRecord): string {
  if (revokedAt !== null) return `revoked ${showTime(revokedAt)}`
  return expiresAt !== null && expiresAt <= Date.now() * 1000 ? 'expired' : 'usable'
}

function printableRecord(record: KeyRecord): object {
  const time = (at: number | null) => (at === null ? null : showTime(at))
  const { id, name, scope, historians, createdAt, expiresAt, revokedAt, lastUsedAt = null } = record
  return {
    id,
    name,
    scope,
    historians,
    createdAt: time(createdAt),
    expiresAt: time(expiresAt),
    revokedAt: time(revokedAt),
    lastUsedAt: time(lastUsedAt),
  }
}

function showTime(at: number): string {
  return formatInstant(instantFromUs(Math.floor(at / 1000) * 1000), systemTimeZone())
}
