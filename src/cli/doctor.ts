import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open, rm, statfs } from 'node:fs/promises'
import { arch, availableParallelism, platform, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import type { LoadedSettings } from '../config/load.ts'
import { systemTimeZone } from '../time/zone.ts'
import {
  addSettingsOptions,
  type CommandContext,
  loadCommandSettings,
  type SettingsOptions,
} from './context.ts'
import { CommandError, EXIT, sentenceOf } from './exit.ts'
import { option } from './options.ts'
import { printable } from './table.ts'
import { say } from './terminal.ts'

interface Options extends SettingsOptions {
  readonly json?: boolean
}

/** What the doctor found about one thing. */
interface Finding {
  readonly what: string
  readonly found: string | number | boolean | null
  /** What is wrong with it, and what would be right; left out when nothing is. */
  readonly problem?: string
}

const COMMITS = 20
const COMMIT_BYTES = 4_096
/** Slower commits make every write slow: a disk should take a few milliseconds. */
const SLOW_COMMIT_MS = 50
const LEAST_OPEN_FILES = 4_096
const LEAST_FREE_BYTES = 1e9

export function addDoctorCommand(program: Command, context: CommandContext): void {
  addSettingsOptions(program.command('doctor'))
    .summary('say what a helper needs to know about this installation')
    .description(
      'Looks at program, machine, limits, disk, clock, configuration and historians, and says what is not as it should be. ' +
        'Works beside a running service, writes one small file into the data directory and removes it. What it prints holds no secrets. ' +
        'Ends with exit code 1 when there is a problem.',
    )
    .addOption(option('--json', 'print the findings as JSON'))
    .addHelpText('after', '\nExample:\n  tidemark doctor --config /etc/tidemark/tidemark.yaml')
    .action((options: Options) => runDoctor(options, context))
}

async function runDoctor(options: Options, context: CommandContext): Promise<void> {
  const findings: Finding[] = [...program(context.tools.version), ...machine(), ...clock()]
  const loaded = await configuration(options, context, findings)
  if (loaded !== null) {
    findings.push(...(await disk(loaded.settings.dataDir)))
    const probes = await context.tools.probeHistorians(loaded.settings)
    for (const { name, type, state, reason, details } of probes) {
      const what = `historian ${name} (${type})`
      findings.push({
        what,
        found: state,
        ...(state === 'down' && { problem: reason ?? 'it does not answer' }),
      })
      for (const detail of details) findings.push({ what: `${what}: ${detail.what}`, found: detail.found })
    }
  }
  const problems = findings.filter(({ problem }) => problem !== undefined)
  const { terminal } = context
  if (options.json === true) {
    say(terminal, JSON.stringify({ isWell: problems.length === 0, findings }, null, 2))
  } else {
    for (const { what, found, problem } of findings) {
      say(terminal, printable(`${problem === undefined ? 'ok ' : 'BAD'}  ${what}: ${found ?? 'not known'}`))
      // All that is wrong with a configuration is a line each.
      for (const line of problem?.split('\n') ?? []) say(terminal, printable(`     ${line}`))
    }
  }
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'There is a problem' : `There are ${problems.length} problems`
    throw new CommandError(`${count}: ${problems.map(({ what }) => what).join(', ')}`, EXIT.failed)
  }
}

function program(version: string): readonly Finding[] {
  return [
    { what: 'tidemark', found: version },
    { what: 'node', found: process.versions.node },
    { what: 'time zones', found: process.versions.tz ?? null },
  ]
}

function machine(): readonly Finding[] {
  const memory = process.constrainedMemory()
  const open = openFiles()
  return [
    { what: 'system', found: `${platform()} ${arch()} ${release()}` },
    { what: 'processors', found: availableParallelism() },
    { what: 'memory bytes', found: memory > 0 && memory < totalmem() ? memory : totalmem() },
    {
      what: 'open files allowed',
      found: open,
      ...(open !== null &&
        open < LEAST_OPEN_FILES && {
          problem: `at least ${LEAST_OPEN_FILES} are expected: raise LimitNOFILE of the unit, or ulimit -n`,
        }),
    },
  ]
}

/** Node raises its own limit to the hard one, which is what counts. */
function openFiles(): number | null {
  try {
    const [, , hard] = /^Max open files +(\S+) +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return hard === undefined || hard === 'unlimited' ? null : Number(hard)
  } catch {
    return null
  }
}

function clock(): readonly Finding[] {
  const isSynchronized = existsSync('/run/systemd/timesync/synchronized')
  return [
    { what: 'time', found: new Date().toISOString() },
    { what: 'zone of the machine', found: systemTimeZone().id },
    // Other services than systemd's keep no such mark.
    { what: 'clock synchronized by systemd', found: isSynchronized ? true : null },
  ]
}

/** `null` when the configuration cannot be used; what is wrong with it is a finding. */
async function configuration(
  options: Options,
  context: CommandContext,
  findings: Finding[],
): Promise<LoadedSettings | null> {
  const what = 'configuration'
  try {
    const loaded = await loadCommandSettings(options, context)
    const { problemsBeyondSchema } = await import('../config/check.ts')
    const problems = problemsBeyondSchema(loaded.settings.server)
    const problem = problems.length === 0 ? {} : { problem: problems.join('\n') }
    findings.push({ what, found: loaded.file ?? 'all defaults', ...problem })
    findings.push({ what: 'data directory', found: loaded.settings.dataDir })
    return loaded
  } catch (error) {
    findings.push({ what, found: 'not valid', problem: sentenceOf(error) })
    return null
  }
}

/** Room, and how long a commit takes that has to be on disk; nothing is made where there is no data directory yet. */
async function disk(dataDir: string): Promise<readonly Finding[]> {
  let folder = dataDir
  while (!existsSync(folder)) folder = dirname(folder)
  try {
    const { bavail, bsize } = await statfs(folder)
    const free = bavail * bsize
    const times = await commitTimes(folder)
    const median = times[times.length >> 1]!
    return [
      {
        what: 'free bytes',
        found: free,
        ...(free < LEAST_FREE_BYTES && { problem: 'less than 1 GB: make room' }),
      },
      {
        what: 'commit ms, median',
        found: rounded(median),
        ...(median > SLOW_COMMIT_MS && {
          problem: `more than ${SLOW_COMMIT_MS} ms: every write waits for at least one; use a faster disk`,
        }),
      },
      { what: 'commit ms, longest', found: rounded(times.at(-1)!) },
    ]
  } catch (error) {
    return [{ what: 'disk of the data directory', found: 'not usable', problem: sentenceOf(error) }]
  }
}

/** Milliseconds of appends that are synced, ascending. */
async function commitTimes(folder: string): Promise<readonly number[]> {
  const place = join(folder, `.doctor-${process.pid}`)
  await mkdir(place, { mode: 0o700 })
  try {
    const file = await open(join(place, 'commits'), 'wx', 0o600)
    const times: number[] = []
    try {
      for (let i = 0; i < COMMITS; i++) {
        const began = performance.now()
        await file.write(Buffer.alloc(COMMIT_BYTES, i))
        await file.datasync()
        times.push(performance.now() - began)
      }
    } finally {
      await file.close()
    }
    return times.sort((a, b) => a - b)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}
