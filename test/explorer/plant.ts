import assert from 'node:assert/strict'
import { type RunningService, serve, temporaryFolder } from '../cli/run.ts'

const at = (time: string, value: number, status = 'OK') => ({
  timestamp: `2026-01-15T${time}Z`,
  value,
  status,
})

/** Every ten seconds of two hours: a ramp with one spike. */
function flow() {
  const start = Date.UTC(2026, 0, 15, 10)
  return Array.from({ length: 721 }, (_, index) => ({
    timestamp: new Date(start + index * 10_000).toISOString(),
    value: index === 300 ? 500 : 10 + index / 36,
    status: 'OK',
  }))
}

export const HOSTILE = `<img src=x onerror=alert(1)>"';\u202e${'x'.repeat(400)}`
export const FORMULA = '=HYPERLINK("http://x")'

/** The range of the points of 2026-01-15, and of nothing else. */
export const RANGE = 'from=2026-01-15T10:00:00.000Z&to=2026-01-15T12:00:00.000Z'

/** A service with tags of every kind: linear, stepped, with gaps, BAD points, states and hostile names. */
export async function startPlant(): Promise<RunningService> {
  const service = await serve([], { cwd: await temporaryFolder() })
  const entries = {
    'local/T1.FLOW': { description: 'Feed flow to the tank', units: 'm3/h' },
    'local/T1.LEVEL': { description: 'Tank level', units: '%' },
    'local/T1.TEMP': { description: 'Tank temperature', units: 'degC' },
    'local/T2.TEMP': { description: 'Reactor temperature', units: 'degC' },
    'local/P1.RUNNING': { description: 'Pump runs', stepped: true },
    'local/V1.STATE': { description: 'Inlet valve', states: { 0: 'Closed', 1: 'Open', 2: 'Moving' } },
    'local/GAPS': { description: 'Comes and goes', units: 'bar', maxGap: '10min' },
    'local/NEW': { description: 'Newest point half an hour ago', units: 'bar' },
    'local/OCTOBER': { description: 'Around the end of summer time', units: 'bar' },
    [`local/${HOSTILE}`]: { description: `<b>${HOSTILE}</b>`, units: '<i>u</i>' },
    [`local/${FORMULA}`]: { description: '=1+1', units: '@x' },
  }
  await write(service, '/historian/metadata/create', { entries })
  const hour = (value: number) => Date.UTC(2026, 9, 25, value)
  await write(service, '/historian/write/points', {
    points: {
      'local/T1.FLOW': flow(),
      'local/T1.LEVEL': [
        at('09:00', 20),
        at('10:30', 60),
        at('11:00', 90, 'BAD'),
        at('11:30', 40),
        at('12:30', 50),
      ],
      'local/T1.TEMP': [at('09:00', 20), at('11:00', 80), at('13:00', 20)],
      'local/T2.TEMP': [at('09:00', 30), at('11:00', 70), at('13:00', 30)],
      'local/P1.RUNNING': [at('09:00', 0), at('10:15', 1), at('10:45', 0), at('11:15', 1), at('11:30', 0)],
      'local/V1.STATE': [at('09:00', 0), at('10:20', 2), at('10:25', 1), at('11:40', 0)],
      'local/GAPS': [at('10:00', 3), at('10:05', 4), at('10:10', 5), at('11:00', 5), at('11:05', 4)],
      'local/NEW': [
        { timestamp: '2 hours ago', value: 1 },
        { timestamp: '30 minutes ago', value: 5 },
      ],
      'local/OCTOBER': [0, 1, 2, 3].map((value) => ({ timestamp: hour(value), value })),
      [`local/${HOSTILE}`]: [at('10:00', 1), at('12:00', 2)],
      [`local/${FORMULA}`]: [at('10:00', 1), at('12:00', 2)],
    },
  })
  return service
}

async function write(service: RunningService, path: string, body: unknown): Promise<void> {
  const answer = await service.post(path, body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(
    Object.keys((answer.body.errors as object | undefined) ?? {}).length,
    0,
    JSON.stringify(answer.body),
  )
}
