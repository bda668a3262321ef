import type { Command } from 'commander'
import type { Environment } from '../config/environment.ts'
import type { LoadedSettings } from '../config/load.ts'
import type { Access } from './access.ts'
import { option, variableOf } from './options.ts'
import type { Terminal } from './terminal.ts'
import type { Tools } from './tools.ts'

/** What every command runs in. */
export interface CommandContext {
  readonly tools: Tools
  readonly terminal: Terminal
  /** As the process was started with; commander's view of it is tidied. */
  readonly env: Environment
  readonly directory: string
  readonly input: AsyncIterable<Uint8Array>
  /** Aborted by Ctrl-C; the command then ends soon. */
  readonly signal: AbortSignal
}

/** Options of every command that needs the configuration. */
export interface SettingsOptions {
  readonly config?: string
  readonly dataDir?: string
}

/** Options of commands that work on a data directory or on a running service. */
export interface AccessOptions extends SettingsOptions {
  readonly url?: string
  readonly key?: string
}

export function addSettingsOptions(command: Command): Command {
  return command
    .addOption(option('--config <file>', 'configuration file (default: tidemark.yaml here, if there is one)'))
    .addOption(option('--data-dir <folder>', 'folder of keys and embedded historians (default: ./data)'))
}

export function addAccessOptions(command: Command): Command {
  return addSettingsOptions(command)
    .addOption(option('--url <url>', 'go through a running service instead of the data directory'))
    .addOption(option('--key <key>', 'API key for --url'))
}

/**
 * The settings of a command.
 * @param flags       further options over them
 * @param isThorough  whether files that they name are looked at too
 */
export async function loadCommandSettings(
  options: SettingsOptions,
  { tools, env, directory }: CommandContext,
  flags: readonly { readonly path: string; readonly value: unknown; readonly flag: string }[] = [],
  isThorough = false,
): Promise<LoadedSettings> {
  const { loadSettings } = await import('../config/load.ts')
  const dataDir =
    options.dataDir === undefined || options.dataDir === env[variableOf('--data-dir')]
      ? []
      : [{ path: 'dataDir', value: options.dataDir, flag: '--data-dir' }]
  return loadSettings({
    file: options.config,
    flags: [...dataDir, ...flags],
    env,
    directory,
    types: await tools.historianTypes(),
    stores: await tools.storeTypes(),
    isThorough,
  })
}

/** Opens the service of --url, or else the data directory in place. */
export async function openAccess(options: AccessOptions, context: CommandContext): Promise<Access> {
  if (options.url !== undefined) {
    const { HttpAccess } = await import('./http-access.ts')
    return new HttpAccess({ url: options.url, key: options.key, signal: context.signal })
  }
  const { settings } = await loadCommandSettings(options, context)
  const { LocalAccess } = await import('./local-access.ts')
  return new LocalAccess(await context.tools.openInPlace(settings), settings, context.signal)
}
