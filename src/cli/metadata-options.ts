import type { Command } from 'commander'
import { option, pairOption } from './options.ts'

/** Metadata of tags as options say it. */
export interface MetadataOptions {
  readonly description?: string
  readonly units?: string
  /** `false` is --no-stepped. */
  readonly stepped?: boolean
  readonly maxGap?: string
  readonly states?: ReadonlyMap<string, string>
}

export function addMetadataOptions(command: Command): Command {
  return command
    .addOption(option('--description <text>', "what the tag measures; '' clears it"))
    .addOption(option('--units <units>', "such as m3/h; '' clears them"))
    .addOption(option('--stepped', 'a value holds until the next point'))
    .addOption(option('--no-stepped', 'values between points lie on the line between them'))
    .addOption(option('--max-gap <duration>', "how long a value is good for, such as 5m; '' for ever"))
    .addOption(pairOption('--states <number=name>', 'name of a state, such as 1=Open; may be repeated'))
}

/** The fields of a metadata entry that were said; an empty text is null, which clears a field. */
export function metadataOf({
  description,
  units,
  stepped,
  maxGap,
  states,
}: MetadataOptions): Readonly<Record<string, unknown>> {
  return {
    ...(description !== undefined && { description: description || null }),
    ...(units !== undefined && { units: units || null }),
    ...(stepped !== undefined && { stepped }),
    ...(maxGap !== undefined && { maxGap: maxGap || null }),
    ...(states !== undefined && { states: Object.fromEntries(states) }),
  }
}
