import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { chartBox, countPixels, missingBrowser, open, rowsOf, settled, viewOf } from './browser.ts'
import { RANGE, startPlant } from './plant.ts'

const missing = missingBrowser()

/** Colour of the picture at a place in shares of its size, as red, green, blue and opacity. */
async function pixelAt(page: Page, x: number, y: number): Promise<readonly number[]> {
  return page.evaluate(
    ([across, down]) => {
      const canvas = document.querySelector<HTMLCanvasElement>('#chart canvas.plot')!
      const at = [canvas.width * across!, canvas.height * down!].map(Math.floor)
      return [...canvas.getContext('2d')!.getImageData(at[0]!, at[1]!, 6, 6).data]
    },
    [x, y] as const,
  )
}

describe('what a picture shows', { skip: missing ?? false }, async () => {
  const service = missing === null ? await startPlant() : null!
  const openView = (view: string) => open(service, service.readKey, view)

  it('a spike of one point is drawn to its top, at every zoom', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.FLOW`)
    const spike = await rowsOf(page, 0, 0.4, 0.5)
    assert.ok(spike[0]! < 80, `the spike begins at row ${spike[0]}`)
    const { page: wide } = await openView(
      'from=2024-01-01T00:00:00.000Z&to=2026-11-01T00:00:00.000Z&pen=c0;local/T1.FLOW',
    )
    const rows = await rowsOf(wide, 0, 0.6, 0.8)
    assert.ok(rows[0]! < 80, `the spike begins at row ${rows[0]}`)
  })

  it('a curve with many points for a pixel covers each column from its least to its greatest value', async () => {
    for (const deviceScaleFactor of [1, 2]) {
      const { page } = await open(service, service.readKey, `${RANGE}&pen=c0;siggen/sin1@6`, {
        deviceScaleFactor,
      })
      const whole = await rowsOf(page, 0, 0.2, 0.8)
      const height = whole.at(-1)! - whole[0]! + 1
      assert.equal(whole.length, height, 'no row between the least and the greatest value is left out')
      for (const share of [0.2, 0.31, 0.42, 0.53, 0.64, 0.75]) {
        const column = await rowsOf(page, 0, share, share)
        // At its very ends a line may be too faint to be counted.
        assert.ok(column.length > 0.9 * height, `${column.length} of ${height} rows at ${share}`)
      }
    }
  })

  it('a BAD point and a gap by maxGap break the line, and the break is hatched', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.LEVEL`)
    // From 11:00, BAD, to the next good point at 11:30 there is no line.
    assert.equal(await countPixels(page, 0, 0.56, 0.74), 0)
    assert.ok((await countPixels(page, 0, 0.1, 0.3)) > 50)
    const hatched = await pixelAt(page, 0.65, 0.4)
    assert.ok(
      hatched.some((part, index) => index % 4 === 0 && part > 120),
      'the break is hatched',
    )
    const { page: gaps } = await openView(`${RANGE}&pen=c1;local/GAPS`)
    assert.equal(await countPixels(gaps, 1, 0.2, 0.5), 0)
    assert.ok((await countPixels(gaps, 1, 0.05, 0.12)) > 5)
  })

  it('a value that is only held is dotted, up to now and not beyond', async () => {
    const { page } = await openView('from=*-1h&to=*%2B1h&pen=c0;local/NEW')
    await page.getByLabel('From', { exact: true }).fill('1 hour ago')
    await page.getByLabel('To', { exact: true }).fill('in 1 hour')
    await page.getByLabel('To', { exact: true }).press('Enter')
    await page.waitForFunction(() => location.hash.includes('in'))
    await settled(page)
    const measured = await countPixels(page, 0, 0.06, 0.24)
    const held = await countPixels(page, 0, 0.32, 0.48)
    assert.ok(held > 20 && held < measured * 0.9, `${held} dotted beside ${measured}`)
    assert.equal(await countPixels(page, 0, 0.6, 0.95), 0)
  })

  it('a stepped tag is drawn in steps, from edge to edge', async () => {
    const { page } = await openView(`${RANGE}&pen=c2;local/P1.RUNNING`)
    const rows = await rowsOf(page, 2, 0.06, 0.98)
    const left = await rowsOf(page, 2, 0.05, 0.08)
    const right = await rowsOf(page, 2, 0.95, 0.985)
    assert.ok(left.length < 5 && right.length < 5, 'level at both edges')
    assert.deepEqual(left, right)
    assert.ok(rows.length > 100, 'edges are upright')
    const between = await rowsOf(page, 2, 0.26, 0.36)
    assert.ok(between.length < 5, 'level between its points')
  })

  it('scales: one for each unit, for each pen, for all; typed, locked and dragged', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.TEMP&pen=c1;local/T2.TEMP&pen=c2;local/T1.FLOW`)
    const together = await rowsOf(page, 0, 0.3, 0.7)
    await page.getByRole('button', { name: 'Display' }).click()
    await page.getByLabel('One for each pen').check()
    await settled(page)
    assert.equal((await viewOf(page)).get('scales'), 'pen')
    const alone = await rowsOf(page, 0, 0.3, 0.7)
    assert.notDeepEqual(alone, together)
    await page.getByLabel('One for all').check()
    await settled(page)
    const shared = await rowsOf(page, 0, 0.3, 0.7)
    assert.ok(
      shared.at(-1)! - shared[0]! < alone.at(-1)! - alone[0]!,
      'the flow takes most of a shared scale',
    )
    await page.getByLabel('One for each unit').check()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Scale and limits of local/T1.TEMP' }).click()
    await page.getByLabel('Scale from').fill('0')
    await page.getByLabel('to', { exact: true }).fill('1000')
    await page.getByLabel('to', { exact: true }).press('Tab')
    await page.waitForFunction(() =>
      decodeURIComponent(location.hash).includes('low:0,high:1000;local/T1.TEMP'),
    )
    await settled(page)
    const flat = await rowsOf(page, 0, 0.3, 0.7)
    assert.ok(flat.at(-1)! - flat[0]! < 40)
    await page.getByLabel('Locked').uncheck()
    await page.waitForFunction(() => !location.hash.includes('low:'))
    const box = await chartBox(page)
    await page.mouse.move(box.x + 30, box.y + box.height / 2)
    await page.mouse.down()
    await page.mouse.move(box.x + 30, box.y + box.height / 2 + 60, { steps: 4 })
    await page.mouse.up()
    await page.waitForFunction(() => location.hash.includes('low:') && location.hash.includes('high:'))
  })

  it('lanes give each pen a band of its own', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.TEMP&pen=c1;local/T2.TEMP&lanes=1`)
    const [upper, lower] = [await rowsOf(page, 0, 0.2, 0.9), await rowsOf(page, 1, 0.2, 0.9)]
    assert.ok(upper.at(-1)! < lower[0]!, `${upper.at(-1)} above ${lower[0]}`)
  })

  it('an earlier period lies below, dashed and fainter, at the same time of day', async () => {
    const { page } = await openView(
      'from=2026-01-16T10:00:00.000Z&to=2026-01-16T12:00:00.000Z&pen=c0;local/GAPS',
    )
    assert.equal(await countPixels(page, 0, 0.06, 0.98), 0)
    await page.getByRole('button', { name: 'Display' }).click()
    await page.getByLabel('One day').check()
    await settled(page)
    assert.equal((await viewOf(page)).get('earlier'), '1')
    const drawn = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('#chart canvas.plot')!
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width / 5, canvas.height)
      let blue = 0
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3]! > 60 && data[at + 2]! - data[at]! > 60) blue++
      return blue
    })
    assert.ok(drawn > 10)
  })

  it('pens are hidden, singled out, recoloured, moved and removed', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.TEMP&pen=c1;local/T2.TEMP`)
    await page.getByRole('button', { name: 'Hide local/T1.TEMP' }).click()
    await settled(page)
    assert.equal(await countPixels(page, 0, 0.1), 0)
    assert.ok((await countPixels(page, 1, 0.1)) > 50)
    await page.getByRole('button', { name: 'Single out local/T1.TEMP' }).click()
    await settled(page)
    assert.ok((await countPixels(page, 0, 0.1)) > 50)
    assert.equal(await countPixels(page, 1, 0.1), 0)
    await page.getByRole('button', { name: 'Single out local/T1.TEMP' }).click()
    await page.getByRole('button', { name: 'Colour of local/T1.TEMP' }).click()
    await page.getByRole('button', { name: 'Move down local/T1.TEMP' }).click()
    assert.deepEqual((await viewOf(page)).getAll('pen'), ['c1;local/T2.TEMP', 'c1;local/T1.TEMP'])
    await page.getByRole('button', { name: 'Remove local/T2.TEMP' }).click()
    assert.deepEqual((await viewOf(page)).getAll('pen'), ['c1;local/T1.TEMP'])
  })

  it('limits are lines, fixed or from a tag, with what lies beyond tinted', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.TEMP`)
    const before = await pixelAt(page, 0.9, 0.05)
    await page.getByRole('button', { name: 'Scale and limits of local/T1.TEMP' }).click()
    await page.getByLabel('High limit').fill('70')
    await page.getByLabel('High limit').press('Tab')
    await page.getByLabel('Low limit').fill('local/T2.TEMP')
    await page.getByLabel('Low limit').press('Tab')
    await settled(page)
    const pen = (await viewOf(page)).get('pen')!
    assert.match(pen, /max:70/)
    assert.match(pen, /min:local%2FT2\.TEMP/)
    assert.notDeepEqual(await pixelAt(page, 0.9, 0.05), before)
    const red = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('#chart canvas.plot')!
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
      let count = 0
      for (let at = 0; at < data.length; at += 4)
        if (data[at]! - data[at + 1]! > 100 && data[at + 3]! > 150) count++
      return count
    })
    assert.ok(red > 300, `${red} pixels of limits`)
  })

  it('a tag with states is a bar of colours, and its value a name', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/V1.STATE`)
    const [closed, open, moving] = [
      await countPixels(page, 0),
      await countPixels(page, 1),
      await countPixels(page, 2),
    ]
    assert.ok(open > closed && closed > moving && moving > 100, `${closed} ${open} ${moving}`)
    const box = await chartBox(page)
    await page.mouse.move(box.x + box.width * 0.6, box.y + 80)
    await page.waitForFunction(() => document.querySelector('.pens .value')?.textContent?.trim() === 'Open')
  })

  it('another time zone moves the labels, and the doubled hour is there twice', async () => {
    const { timeTicks } = await import('../../explorer/time/ticks.ts')
    const at = (hour: number) => Date.UTC(2026, 9, 25, hour)
    const ticks = timeTicks(Date.UTC(2026, 9, 24, 22), at(4), 1_000, 'Europe/Oslo')
    assert.deepEqual(
      ticks.map(({ label, below }) => `${label} ${below}`.trim()),
      ['00:00 Sun 25 Oct', '01:00', '02:00 +02:00', '02:00 +01:00', '03:00', '04:00', '05:00'],
    )
    const { page } = await openView(
      `from=2026-10-24T22:00:00.000Z&to=2026-10-25T04:00:00.000Z&pen=c0;local/OCTOBER`,
    )
    const oslo = await page.locator('#chart canvas.plot').screenshot()
    await page.getByRole('button', { name: 'Display' }).click()
    await page.getByLabel('Time zone').fill('Asia/Kolkata')
    await page.getByLabel('Time zone').press('Enter')
    await page.waitForFunction(() => decodeURIComponent(location.hash).includes('zone=Asia/Kolkata'))
    await page.keyboard.press('Escape')
    await settled(page)
    assert.ok(!oslo.equals(await page.locator('#chart canvas.plot').screenshot()))
    assert.match(await page.locator('.pens .time').innerText(), /^2026-10-25 08:30:00$/)
  })
})
