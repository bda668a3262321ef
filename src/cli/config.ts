import type { Command } from 'commander'
import {
  addSettingsOptions,
  type CommandContext,
  loadCommandSettings,
  type SettingsOptions,
} from './context.ts'
import { say } from './terminal.ts'

/** The commands about the configuration itself. */
export function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program
    .command('config')
    .summary('check the configuration')
    .description('Looks after the configuration. Nothing is started, opened or connected to.')
  addSettingsOptions(config.command('check'))
    .summary('report all that is wrong with the configuration')
    .description(
      'Reads the configuration as serve does, with its variables, and reports every problem at once, those of the TLS files too. Ends ' +
        'with exit code 2 when there is one.',
    )
    .addHelpText('after', '\nExample:\n  tidemark config check --config /etc/tidemark/tidemark.yaml')
    .action((options: SettingsOptions) => runCheck(options, context))
}

async function runCheck(options: SettingsOptions, context: CommandContext): Promise<void> {
  const { settings, file } = await loadCommandSettings(options, context, [], true)
  const source = file ?? 'The settings'
  const historians = Array.from(settings.historians, ([name, { type }]) => `${name} (${type})`)
  say(
    context.terminal,
    `${source} ${file === null ? 'are' : 'is'} valid: historians ${historians.join(', ')}`,
  )
}
