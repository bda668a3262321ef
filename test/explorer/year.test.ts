import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type RunningService, serve, temporaryFolder } from '../cli/run.ts'
import { countPixels, missingBrowser, open, settled } from './browser.ts'

const missing = missingBrowser()
const DAYS = 365
const SECONDS = 86_400
const START = Date.UTC(2025, 0, 1)
/** Day and second of the one point that stands out. */
const SPIKE = { day: 200, second: 12_345 }

/** A year at 1 Hz, 31.5 million points, with one that stands out. */
async function startYear(): Promise<RunningService> {
  const service = await serve([], { cwd: await temporaryFolder() })
  for (let day = 0; day < DAYS; day++) {
    const start = START + day * SECONDS * 1000
    const timestamps = Array.from({ length: SECONDS }, (_, second) => start + second * 1000)
    const values = timestamps.map((_, second) => 10 + ((second + day) % 100) / 100)
    if (day === SPIKE.day) values[SPIKE.second] = 100
    const points = { 'local/YEAR': { unit: 'ms', timestamps, values } }
    const { status, body } = await service.post('/historian/write/points', { points, createTags: true })
    assert.equal(status, 200, JSON.stringify(body))
  }
  return service
}

describe('a year at 1 Hz', { skip: missing ?? false }, async () => {
  const service = missing === null ? await startYear() : null!
  const YEAR = 'from=2025-01-01T00:00:00.000Z&to=2026-01-01T00:00:00.000Z'

  it('one point among 31.5 million colours its pixels', async () => {
    const { page, complaints } = await open(service, service.readKey, `${YEAR}&pen=c1;local/YEAR`)
    const tops = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('#chart canvas.plot')!
      const { data, width } = canvas
        .getContext('2d')!
        .getImageData(0, 0, canvas.width, Math.floor(canvas.height / 2))
      const columns = new Set<number>()
      // The orange of the second pen, in the upper half of the picture.
      for (let at = 0; at < data.length; at += 4) {
        if (data[at]! - data[at + 2]! > 120 && data[at + 3]! > 100) columns.add((at / 4) % width)
      }
      return [...columns].filter((column) => column > width * 0.06).map((column) => column / width)
    })
    assert.ok(tops.length >= 1 && tops.length <= 4, `columns ${tops}`)
    const expected = (SPIKE.day + SPIKE.second / SECONDS) / DAYS
    assert.ok(Math.abs(tops[0]! - expected) < 0.05, `${tops[0]} beside ${expected}`)
    assert.deepEqual(complaints, [])
  })

  it('memory stays flat over 1,000 zooms', async () => {
    const { page, complaints } = await open(service, service.readKey, `${YEAR}&pen=c1;local/YEAR`)
    const client = await page.context().newCDPSession(page)
    const heapMb = async () => {
      await client.send('HeapProfiler.collectGarbage')
      const { usedSize } = await client.send('Runtime.getHeapUsage')
      return usedSize / 2 ** 20
    }
    const zoom = (times: number) =>
      page.evaluate(async (count) => {
        const chart = document.querySelector<HTMLElement>('#chart')!
        const { left, width, top } = chart.getBoundingClientRect()
        for (let index = 0; index < count; index++) {
          const deltaY = index % 20 < 10 ? -120 : 120
          const clientX = left + width * (0.3 + (index % 7) / 20)
          chart.dispatchEvent(
            new WheelEvent('wheel', { deltaY, clientX, clientY: top + 50, cancelable: true }),
          )
          await new Promise((resolve) => requestAnimationFrame(resolve))
        }
      }, times)
    await zoom(100)
    await settled(page)
    const before = await heapMb()
    await zoom(1_000)
    await settled(page)
    const after = await heapMb()
    assert.ok(after < before + 5, `${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after`)
    assert.ok((await countPixels(page, 1)) > 100)
    assert.deepEqual(complaints, [])
  })
})
