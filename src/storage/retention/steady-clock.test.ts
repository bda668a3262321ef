import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CLOCK_TOLERANCE_US, SteadyClock } from './steady-clock.ts'

const HOUR = 3_600_000_000
const DAY = 24 * HOUR

/** Two clocks that go on together, of which one can be set. */
class Clocks {
  wall = 1_700_000_000_000_000
  steady = 5_000_000
  readonly wallUs = () => this.wall
  readonly monotonicMs = () => this.steady / 1_000

  pass(us: number): void {
    this.wall += us
    this.steady += us
  }
}

test('without an earlier run the wall clock is believed, and from then on as long as it keeps step', () => {
  const clocks = new Clocks()
  const clock = new SteadyClock(clocks, null)
  assert.deepEqual(clock.look(), { kind: 'known', us: clocks.wall })
  clocks.pass(3 * DAY)
  clocks.wall += HOUR / 2
  assert.deepEqual(clock.look(), { kind: 'known', us: clocks.wall })
  clocks.wall -= HOUR
  assert.deepEqual(clock.look(), { kind: 'known', us: clocks.wall + HOUR }, 'it never goes back')
})

test('a jump ahead is believed after as much time, and not before', () => {
  const clocks = new Clocks()
  const clock = new SteadyClock(clocks, null)
  clock.look()
  clocks.wall += 10 * DAY
  assert.deepEqual(clock.look(), { kind: 'jumped', byUs: 10 * DAY, believedInUs: 10 * DAY })
  clocks.pass(9 * DAY)
  assert.deepEqual(clock.look(), { kind: 'jumped', byUs: 10 * DAY, believedInUs: DAY })
  clocks.pass(DAY)
  assert.deepEqual(clock.look(), { kind: 'known', us: clocks.wall })
})

test('a clock that is set right again goes on at once', () => {
  const clocks = new Clocks()
  const clock = new SteadyClock(clocks, null)
  clock.look()
  clocks.wall += 10 * DAY
  clock.look()
  clocks.pass(HOUR)
  clocks.wall -= 10 * DAY
  assert.deepEqual(clock.look(), { kind: 'known', us: clocks.wall })
})

test('a clock that keeps on jumping is not believed before it stands for long enough', () => {
  const clocks = new Clocks()
  const clock = new SteadyClock(clocks, null)
  clock.look()
  clocks.wall += 2 * DAY
  clock.look()
  clocks.pass(DAY)
  clocks.wall += 2 * DAY
  assert.deepEqual(clock.look(), { kind: 'jumped', byUs: 4 * DAY, believedInUs: 4 * DAY })
  clocks.pass(4 * DAY)
  assert.equal(clock.look().kind, 'known')
})

test('a jump back waits, and nothing that was is taken back', () => {
  const clocks = new Clocks()
  const clock = new SteadyClock(clocks, null)
  clock.look()
  const before = clocks.wall
  clocks.wall -= 2 * DAY
  assert.deepEqual(clock.look(), { kind: 'jumped', byUs: -2 * DAY, believedInUs: 2 * DAY })
  clocks.pass(2 * DAY)
  assert.deepEqual(clock.look(), { kind: 'known', us: before })
})

test('a clock that is far from where the run before left it is a jump, too; somebody can say that it is right', () => {
  const clocks = new Clocks()
  const clock = new SteadyClock(clocks, clocks.wall - 3 * DAY)
  assert.deepEqual(clock.look(), { kind: 'jumped', byUs: 3 * DAY, believedInUs: 3 * DAY })
  assert.deepEqual(clock.believe(), { kind: 'known', us: clocks.wall })
  assert.deepEqual(clock.look(), { kind: 'known', us: clocks.wall })
  assert.equal(new SteadyClock(clocks, clocks.wall - HOUR / 2).look().kind, 'known', 'a restart is no jump')
})

test('whatever is done to the wall clock, retention gains no more than the time that passed, twice, and the tolerance', () => {
  const step = fc.record({
    passUs: fc.integer({ min: 0, max: 5 * DAY }),
    setUs: fc.oneof(fc.constant(0), fc.integer({ min: -20 * DAY, max: 20 * DAY })),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const clocks = new Clocks()
      const clock = new SteadyClock(clocks, null)
      const first = clocks.wall
      const start = clocks.steady
      clock.look()
      let last = first
      for (const { passUs, setUs } of steps) {
        clocks.pass(passUs)
        clocks.wall += setUs
        const time = clock.look()
        if (time.kind !== 'known') continue
        assert.ok(time.us >= last)
        last = time.us
        // A jump of so much was believed after as much time only.
        assert.ok(last - first <= 2 * (clocks.steady - start) + CLOCK_TOLERANCE_US)
      }
    }),
  )
})
