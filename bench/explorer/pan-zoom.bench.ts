import { type Browser, chromium, type Page } from 'playwright-core'
import { expect, type Measurement, quantile, seededRandom } from '../measure.ts'
import { startService } from '../service.ts'

/** The explorer over a year at 1 Hz: what a person waits for after a pan or a zoom of 8 pens, in Chromium. */
const PENS = 8
const DAYS = 365
const SECONDS = 86_400
const START = Date.UTC(2025, 0, 1)
const STEPS = 40
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'

const service = await startService()
let browser: Browser | null = null
try {
  await load()
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const pens = Array.from({ length: PENS }, (_, pen) => `&pen=c${pen};aliases/YEAR${pen}`).join('')
  const measurements: Measurement[] = []
  for (const [name, from, to, keys] of [
    ['pan/a-month', '2025-03-01', '2025-04-01', ['Shift+ArrowRight', 'Shift+ArrowLeft']],
    [
      'zoom/from-the-year',
      '2025-01-01',
      '2026-01-01',
      [...Array(8).fill('ArrowUp'), ...Array(8).fill('ArrowDown')],
    ],
  ] as const) {
    await page.goto('about:blank')
    await page.goto(`http://127.0.0.1:${service.port}/#key=${service.key}&from=${from}&to=${to}${pens}`)
    await page.waitForSelector('#chart canvas.plot')
    await page.waitForTimeout(3_000)
    measurements.push(...(await measureSteps(page, name, keys)))
  }
  process.stdout.write(JSON.stringify(measurements))
} finally {
  await browser?.close()
  await service.stop()
}

/** One tag with the year, and as many aliases of it as there are pens: each pen reads it by a request of its own. */
async function load(): Promise<void> {
  const random = seededRandom(1)
  let level = 50
  for (let day = 0; day < DAYS; day++) {
    const start = START + day * SECONDS * 1000
    const timestamps = Array.from({ length: SECONDS }, (_, second) => start + second * 1000)
    const values = timestamps.map(() => {
      level += (random() - 0.5) * 0.04
      return Math.round(level * 1000) / 1000
    })
    const points = { 'local/YEAR': { unit: 'ms', timestamps, values } }
    const answer = await service.post('/historian/write/points', JSON.stringify({ points, createTags: true }))
    expect(answer.includes('All points written!'), 'the points were written')
  }
  for (let pen = 0; pen < PENS; pen++) {
    const { status } = await fetch(`http://127.0.0.1:${service.port}/historian/aliases/YEAR${pen}`, {
      method: 'PUT',
      headers: { 'X-Api-Key': service.key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ tag: 'local/YEAR' }),
    })
    expect(status === 201, 'the alias was made')
  }
  // What was written last is flushed when nothing more comes.
  await new Promise((resolve) => setTimeout(resolve, 5_000))
}

/** From a key to the frame with the data of all pens, and from the last byte of them to that frame. */
async function measureSteps(
  page: Page,
  name: string,
  keys: readonly string[],
): Promise<readonly Measurement[]> {
  const totals: number[] = []
  const afterData: number[] = []
  for (let step = 0; step < STEPS + 4; step++) {
    const { total, after, requests } = await page.evaluate(
      async (pressed) => {
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
        const isBusy = () => document.querySelector('.loading')?.getAttribute('data-busy') === 'true'
        performance.clearResourceTimings()
        const [key, shift] = [pressed.replace('Shift+', ''), pressed.startsWith('Shift+')]
        const start = performance.now()
        document
          .querySelector('#chart')!
          .dispatchEvent(
            new KeyboardEvent('keydown', { key, shiftKey: shift, bubbles: true, cancelable: true }),
          )
        await frame()
        while (isBusy()) await frame()
        // The picture is drawn in the frame after the last signal; this one comes when it has been.
        await frame()
        const end = performance.now()
        const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
        const dataEnd = Math.max(start, ...entries.map(({ responseEnd }) => responseEnd))
        return { total: end - start, after: end - dataEnd, requests: entries.length }
      },
      keys[step % keys.length]!,
    )
    // The view's step is made when the keys rest; it must not fall into the next measurement.
    await page.waitForTimeout(500)
    if (step < 4 || requests === 0) continue
    totals.push(total)
    afterData.push(after)
  }
  expect(totals.length > STEPS / 4, 'steps loaded something')
  return [
    measurementOf(`explorer/${name}/to-the-frame`, totals),
    measurementOf(`explorer/${name}/after-the-data`, afterData),
  ]
}

function measurementOf(name: string, times: number[]): Measurement {
  times.sort((a, b) => a - b)
  const note = `p95 ${quantile(times, 0.95).toFixed(0)} ms; ${PENS} aliases of a tag with 31.5 million points`
  return {
    name,
    runs: times.length,
    medianMs: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    items: null,
    note,
  }
}
