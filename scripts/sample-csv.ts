/**
 * Writes docs/samples/feed-tank.csv, the file of the README's tour: 200 rows of a simulated feed tank, a row for each
 * five minutes. Everything is a formula of the row, so that the file is the same whenever it is made.
 */

const ROWS = 200
const STEP_MINUTES = 5
/** Rows in which the flow meter had no signal. */
const BAD_ROWS = new Set([61, 62])
const TANK_M3 = 50

/** The text of the file: a row of names, a row of units, then the rows of data. */
export function sampleCsv(): string {
  const lines = ['time,T101.LEVEL,T101.INFLOW,P101.RUN', ',%,m3/h,']
  let level = 40
  let runs = false
  for (let row = 0; row < ROWS; row++) {
    const inflow = 18 + 4 * Math.sin(row / 15) + Math.sin(row * 1.7) / 2
    // The pump starts at 80 % and stops at 30 %.
    if (level >= 80) runs = true
    if (level <= 30) runs = false
    lines.push(
      [timeOf(row), level.toFixed(2), BAD_ROWS.has(row) ? 'Bad Input' : inflow.toFixed(2), runs ? 1 : 0].join(
        ',',
      ),
    )
    const outflow = runs ? 45 : 0
    level += (((inflow - outflow) * STEP_MINUTES) / 60 / TANK_M3) * 100
  }
  return `${lines.join('\n')}\n`
}

/** `15.01.2026 08:05`. */
function timeOf(row: number): string {
  const minutes = row * STEP_MINUTES
  const two = (number: number): string => String(number).padStart(2, '0')
  return `15.01.2026 ${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
