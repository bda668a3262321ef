import { freemem } from 'node:os'
import type { FailedMeasurement, Measurement } from '../measure.ts'
import { TurnTimer } from '../turns/turns.ts'
import { measureAttack } from './attack.ts'
import { bodyAttacks, searchAttacks } from './bodies.ts'
import { calculationAttacks } from './calculations.ts'
import { expressionAttacks } from './expressions.ts'
import { labelAttacks } from './labels.ts'
import { mixedAttacks } from './mixtures.ts'
import { fillPlant } from './plant.ts'
import { Victim } from './victim.ts'

/**
 * The worst that a caller with a key can send, against a real service with the default settings: how long each call
 * takes, how long others wait meanwhile, and how much memory it takes. `ADVERSARY=bodies/multi` runs the attacks whose
 * name begins so; docs/performance.md has the table. `ADVERSARY_TURNS=1` times each turn of the event loop, in
 * processor time of its thread, which other programs of a machine have no part in; the probes then have to wait for
 * that, too. `TURNS_PROFILE=1` prints what the longest ones did.
 */
const wanted = (process.env.ADVERSARY ?? '').split(',')
const attacks = [
  ...bodyAttacks(),
  ...labelAttacks(),
  ...expressionAttacks(),
  ...searchAttacks(),
  ...calculationAttacks(),
  ...mixedAttacks(),
].filter(({ name }) => wanted.some((text) => name.startsWith(text)))

const results: (Measurement | FailedMeasurement)[] = []
const turns = process.env.ADVERSARY_TURNS === '1' ? new TurnTimer() : null
const victim = new Victim(turns)
try {
  await victim.start()
  await fillPlant(victim)
  for (const attack of attacks) {
    const result = await measureAttack(victim, attack)
    results.push(result)
    const ms = result.medianMs === null ? '-' : result.medianMs.toFixed(0)
    process.stderr.write(`  ${attack.name}: ${ms} ms; ${result.note}\n`)
    // Its memory belongs to the next attack's figures otherwise.
    if (freemem() < 2 ** 30 || victim.anonymousMb > 256) await victim.restart()
  }
} finally {
  await victim.stop()
  turns?.remove()
}
process.stdout.write(JSON.stringify(results))
