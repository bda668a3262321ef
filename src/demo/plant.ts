import type { TagMetadata } from '../historian/contract.ts'
import {
  AGITATION,
  type BatchTime,
  batchTimeAt,
  COOL_START,
  DRAIN,
  FILL,
  followed,
  followedTotal,
  HEAT_START,
  holdTemperatureOf,
  isWithin,
  lagged,
  pumpFlowOf,
  REFILL,
  refillFlowOf,
  STEP_NAMES,
  stepOf,
  type Target,
} from './batch.ts'
import { hashNoise, hashUniform } from './noise.ts'

/**
 * A small plant out of formulas: a feed tank, its pump, a batch reactor and utilities. Every value follows from the
 * time alone, so that the plant is the same on every machine and needs nothing remembered; and the values fit together:
 * the tank's level is the integral of its flows, the power follows from the current, the valve from the temperatures.
 */
export interface PlantTag {
  readonly name: string
  readonly metadata: TagMetadata
  /** Decimal places that the instrument shows. */
  readonly digits: number
  /** @param step number of the 10 s step, for noise */
  value(time: PlantTime): number
  /** Whether the instrument fails at this step. */
  isBad(time: PlantTime): boolean
}

export interface PlantTime extends BatchTime {
  /** Number of the 10 s step since 1970. */
  readonly step: number
  /** Hours since 1970. */
  readonly hours: number
}

/** A point of every tag each 10 s, on whole tens of seconds. */
export const STEP_US = 10_000_000

const TANK_M3 = 20
const REACTOR_M3 = 12.5
/** Flows need some 20 s to come and go, the inlet valve twice as long. */
const PUMP_LAG = 1 / 3
const VALVE_LAG = 2 / 3

export function plantTimeAt(step: number): PlantTime {
  return { ...batchTimeAt(step / 6), step, hours: step / 360 }
}

function tag(
  name: string,
  description: string,
  units: string | null,
  digits: number,
  value: (time: PlantTime) => number,
  isBad: (time: PlantTime) => boolean = () => false,
): PlantTag {
  return { name, metadata: { description, units, stepped: false }, digits, value, isBad }
}

function stepped(
  name: string,
  description: string,
  value: (time: PlantTime) => number,
  states?: TagMetadata['states'],
): PlantTag {
  const metadata = { description, units: null, stepped: true, ...(states !== undefined && { states }) }
  return { name, metadata, digits: 0, value, isBad: () => false }
}

/** A point now and then, about three a week. */
const rarely =
  (seed: number) =>
  ({ step }: PlantTime) =>
    hashUniform(seed, step) < 1 / 20_000

/** Two minutes on some days, at another time on each. */
const forTwoMinutes =
  (seed: number) =>
  ({ step }: PlantTime) => {
    const day = Math.floor(step / 8640)
    const start = Math.floor(8600 * hashUniform(seed, day))
    const at = step - day * 8640
    return hashUniform(seed + 1, day) < 0.4 && at >= start && at < start + 12
  }

const isPumping = (time: PlantTime) => isWithin(time, FILL)

const outflow = (time: PlantTime) => pumpFlowOf(time.batch) * followed(time, FILL, PUMP_LAG)

const inflow = (time: PlantTime) => refillFlowOf(time.batch) * followed(time, REFILL, VALVE_LAG)

/** m3 pumped since the start of the batch. */
const pumped = (time: PlantTime) => (pumpFlowOf(time.batch) * followedTotal(time, FILL, PUMP_LAG)) / 60

const refilled = (time: PlantTime) => (refillFlowOf(time.batch) * followedTotal(time, REFILL, VALVE_LAG)) / 60

const tankLevel = (time: PlantTime) => 78 + (100 * (refilled(time) - pumped(time))) / TANK_M3

const ambient = ({ hours }: PlantTime) =>
  11 + 6 * Math.sin((2 * Math.PI * (hours - 9)) / 24) + 2 * Math.sin((2 * Math.PI * hours) / 127)

function setpoint({ batch, minute }: BatchTime): number {
  if (minute < HEAT_START) return 25
  return minute < COOL_START ? holdTemperatureOf(batch) : 30
}

const reactorTargets = (batch: number): readonly Target[] => [
  { minute: 0, value: 26 },
  // Cold feed comes in.
  { minute: FILL.start, value: 19 },
  { minute: HEAT_START, value: holdTemperatureOf(batch) + 0.4 },
  { minute: COOL_START, value: 26 },
]

const reactorTemperature = (time: PlantTime) => lagged(time, reactorTargets, 11)

function reactorLevel(time: PlantTime): number {
  const drained = Math.min(1, Math.max(0, (time.minute - DRAIN.start) / (DRAIN.end - DRAIN.start)))
  return 5 + ((100 * pumped(time)) / REACTOR_M3) * (1 - drained)
}

/** What a controller would ask for: the difference, and what is lost to the room while it is hot. */
function steamValve(time: PlantTime): number {
  if (time.minute < HEAT_START || time.minute >= COOL_START) return 0
  const temperature = reactorTemperature(time)
  return Math.min(100, Math.max(0, 6 * (setpoint(time) - temperature) + 0.3 * (temperature - ambient(time))))
}

function pumpCurrent(time: PlantTime): number {
  if (!isPumping(time)) return 0
  const sinceStart = time.minute - FILL.start
  return 9.5 + 0.55 * outflow(time) + 22 * Math.exp(-sinceStart / 0.1) + 0.15 * hashNoise(7, time.step)
}

export const PLANT: readonly PlantTag[] = [
  tag(
    'T101.LEVEL',
    'Feed tank level',
    '%',
    2,
    (time) => tankLevel(time) + 0.05 * hashNoise(1, time.step),
    rarely(51),
  ),
  tag('T101.INFLOW', 'Feed tank inflow', 'm3/h', 3, (time) =>
    Math.max(0, inflow(time) * (1 + 0.008 * hashNoise(2, time.step))),
  ),
  tag('T101.OUTFLOW', 'Feed tank outflow to reactor', 'm3/h', 3, (time) =>
    Math.max(0, outflow(time) * (1 + 0.006 * hashNoise(3, time.step))),
  ),
  stepped('T101.INLET_VALVE', 'Feed tank inlet valve, 1 = open', (time) => (isWithin(time, REFILL) ? 1 : 0)),
  tag(
    'T101.TEMP',
    'Feed tank temperature',
    'degC',
    2,
    (time) => 17 + 0.25 * ambient(time) + 0.04 * hashNoise(4, time.step),
  ),
  stepped('P101.RUNNING', 'Feed pump, 1 = running', (time) => (isPumping(time) ? 1 : 0)),
  tag('P101.CURRENT', 'Feed pump motor current', 'A', 2, pumpCurrent),
  tag(
    'P101.POWER',
    'Feed pump motor power',
    'kW',
    3,
    // Three phases of 400 V at a power factor of 0.86.
    (time) => (Math.sqrt(3) * 400 * 0.86 * pumpCurrent(time)) / 1000,
  ),
  tag('P101.DISCHARGE_PRESSURE', 'Feed pump discharge pressure', 'bar', 3, (time) => {
    const static_ = 1.1 + 0.004 * tankLevel(time)
    const lift = 3.4 * followed(time, FILL, PUMP_LAG) - 0.003 * outflow(time) ** 2
    return static_ + Math.max(0, lift) + 0.012 * hashNoise(5, time.step)
  }),
  tag(
    'P101.BEARING_TEMP',
    'Feed pump bearing temperature',
    'degC',
    1,
    (time) => ambient(time) + 8 + 31 * followed(time, FILL, 12) + 0.15 * hashNoise(6, time.step),
  ),
  tag(
    'P101.VIBRATION',
    'Feed pump vibration',
    'mm/s',
    2,
    (time) => {
      // The bearing wears over some weeks and is then replaced.
      const wear = (time.hours / 24 / 30) % 1
      const running = isPumping(time) ? 1.6 + 1.1 * wear + 0.35 * Math.abs(hashNoise(8, time.step)) : 0
      return 0.15 + running + 0.05 * hashUniform(9, time.step)
    },
    forTwoMinutes(53),
  ),
  stepped('R201.STEP', 'Reactor batch step', stepOf, STEP_NAMES),
  tag(
    'R201.TEMP',
    'Reactor temperature',
    'degC',
    2,
    (time) => reactorTemperature(time) + 0.06 * hashNoise(10, time.step),
    rarely(55),
  ),
  stepped('R201.TEMP_SP', 'Reactor temperature setpoint, degC', setpoint),
  tag('R201.PRESSURE', 'Reactor pressure', 'bar', 3, (time) => {
    // Air in a closed vessel, and the vapour pressure of water after Magnus.
    const temperature = reactorTemperature(time)
    const vapour = 0.0061094 * Math.exp((17.625 * temperature) / (temperature + 243.04))
    return (0.98 * (temperature + 273.15)) / 293.15 + vapour + 0.004 * hashNoise(11, time.step)
  }),
  tag('R201.LEVEL', 'Reactor level', '%', 2, (time) => reactorLevel(time) + 0.06 * hashNoise(12, time.step)),
  tag('R201.STEAM_VALVE', 'Reactor steam valve position', '%', 1, steamValve),
  stepped('R201.AGITATOR', 'Reactor agitator, 1 = running', (time) => (isWithin(time, AGITATION) ? 1 : 0)),
  tag('UTIL.STEAM_FLOW', 'Steam flow to the reactor', 't/h', 3, (time) =>
    Math.max(0, 0.018 * steamValve(time) * (1 + 0.015 * hashNoise(13, time.step))),
  ),
  tag(
    'UTIL.AMBIENT_TEMP',
    'Ambient temperature',
    'degC',
    1,
    (time) => ambient(time) + 0.1 * hashNoise(14, time.step),
  ),
]
