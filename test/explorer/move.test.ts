import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { chartBox, missingBrowser, open, settled, viewOf } from './browser.ts'
import { RANGE, startPlant } from './plant.ts'

const missing = missingBrowser()

/** The span of the address, in milliseconds. */
async function spanOf(page: Page): Promise<readonly [number, number]> {
  const view = await viewOf(page)
  return [Date.parse(view.get('from')!), Date.parse(view.get('to')!)]
}

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 15, 10)

describe('moving through time', { skip: missing ?? false }, async () => {
  const service = missing === null ? await startPlant() : null!
  const openView = (view: string) => open(service, service.readKey, view)

  it('a drag pans, and one step back is where it was', async () => {
    const { page, complaints } = await openView(`${RANGE}&pen=;local/T1.FLOW`)
    const box = await chartBox(page)
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.7, y)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 5 })
    await page.mouse.up()
    const [from, to] = await spanOf(page)
    assert.ok(from > START + 0.2 * HOUR && from < START + HOUR, new Date(from).toISOString())
    assert.ok(Math.abs(to - from - 2 * HOUR) < 10)
    await page.goBack()
    await settled(page)
    assert.deepEqual(await spanOf(page), [START, START + 2 * HOUR])
    assert.deepEqual(complaints, [])
  })

  it('the wheel zooms at the pointer: what lies below it stays there', async () => {
    const { page } = await openView(`${RANGE}&pen=;local/T1.FLOW`)
    const box = await chartBox(page)
    await page.mouse.move(box.x + box.width - 14, box.y + 80)
    await page.mouse.wheel(0, -400)
    await page.waitForFunction(() => !location.hash.includes('10:00:00.000'))
    const [from, to] = await spanOf(page)
    assert.ok(to - from < 1.5 * HOUR && from > START)
    assert.ok(Math.abs(to - (START + 2 * HOUR)) < 60_000, new Date(to).toISOString())
  })

  it('a drag with Shift zooms to its span; double click and Backspace each go one step back', async () => {
    const { page } = await openView(`${RANGE}&pen=;local/T1.FLOW`)
    const box = await chartBox(page)
    const y = box.y + box.height / 2
    const zoomTo = async (left: number, right: number) => {
      await page.keyboard.down('Shift')
      await page.mouse.move(box.x + box.width * left, y)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * right, y, { steps: 4 })
      await page.mouse.up()
      await page.keyboard.up('Shift')
    }
    await zoomTo(0.4, 0.6)
    const first = await spanOf(page)
    assert.ok(first[1] - first[0] < 0.6 * HOUR)
    await zoomTo(0.4, 0.6)
    const second = await spanOf(page)
    assert.ok(second[1] - second[0] < 0.2 * HOUR)
    await page.mouse.dblclick(box.x + box.width / 2, y)
    await page.waitForFunction(
      ([from]) => Date.parse(new URLSearchParams(location.hash.slice(1)).get('from')!) === from,
      first,
    )
    assert.deepEqual(await spanOf(page), first)
    await page.keyboard.press('Backspace')
    await page.waitForFunction(() => location.hash.includes('10:00:00.000'))
    assert.deepEqual(await spanOf(page), [START, START + 2 * HOUR])
  })

  it('typed ranges are read by the service, and what it cannot read is told in place', async () => {
    const { page } = await openView(`${RANGE}&pen=;local/T1.FLOW`)
    const type = async (from: string, to: string) => {
      await page.getByLabel('From', { exact: true }).fill(from)
      await page.getByLabel('To', { exact: true }).fill(to)
      await page.getByLabel('To', { exact: true }).press('Enter')
    }
    for (const from of [
      '*-8h',
      'yesterday',
      'now-1d/d',
      '2 days ago at 06:00',
      '2026-11-01 06:00',
      '1-Jan-2026 05:00:00',
    ]) {
      await type(from, '*')
      await page.waitForFunction(
        (text) => new URLSearchParams(location.hash.slice(1)).get('from') === text,
        from,
      )
      assert.equal(await page.locator('#range-note').innerText(), '')
    }
    await type('yesterdya', '*')
    await page.waitForFunction(() => document.querySelector('#range-note')?.textContent !== '')
    assert.match(await page.locator('#range-note').innerText(), /Cannot parse type yesterdya as time input/)
    assert.equal(await page.getByLabel('From', { exact: true }).getAttribute('aria-invalid'), 'true')
    assert.equal((await viewOf(page)).get('from'), '1-Jan-2026 05:00:00')
    await type('*', '*-1h')
    await page.waitForFunction(() => document.querySelector('#range-note')?.textContent?.includes('before'))
  })

  it('quick ranges follow now; one window earlier and later', async () => {
    const { page } = await openView(`${RANGE}&pen=;local/T1.FLOW`)
    await page.getByLabel('One window earlier').click()
    await page.waitForFunction(() =>
      location.hash.includes('T09:00:00.000%2B01:00&to=2026-01-15T11:00:00.000'),
    )
    await page.getByLabel('One window later').click()
    await page.waitForFunction(() =>
      location.hash.includes('T11:00:00.000%2B01:00&to=2026-01-15T13:00:00.000'),
    )
    await page.getByRole('button', { name: '24 h' }).click()
    await page.waitForFunction(() => location.hash.includes('from=*-24h&to=*'))
    assert.equal(
      await page.getByRole('button', { name: 'Live', exact: true }).getAttribute('aria-pressed'),
      'true',
    )
  })

  it('live takes up what is written, moves on, and pauses when one looks closer', async () => {
    const { page } = await openView('from=*-2m&to=*&pen=;local/LIVE')
    const points = { 'local/LIVE': [{ timestamp: 'now', value: 41.5 }] }
    await service.post('/historian/write/points', { points, createTags: true })
    await page.getByRole('button', { name: '1 h', exact: true }).click()
    const value = page.locator('.pens tbody .value').first()
    await page.waitForFunction(
      () => document.querySelector('.pens tbody .value')?.textContent?.trim() === '41.5',
    )
    const later = { 'local/LIVE': [{ timestamp: 'now', value: 42.5 }] }
    await service.post('/historian/write/points', { points: later })
    await page.waitForFunction(
      () => document.querySelector('.pens tbody .value')?.textContent?.trim() === '42.5',
    )
    assert.equal((await value.innerText()).trim(), '42.5')
    await page.locator('#chart').focus()
    await page.keyboard.press('ArrowUp')
    await page.waitForFunction(
      () => document.querySelector('.live')?.getAttribute('aria-pressed') === 'false',
    )
    await page.getByRole('button', { name: 'Live', exact: true }).click()
    await page.waitForFunction(() => location.hash.includes('to=*'))
  })

  it('the address is the view: another tab with it shows the same, and it holds no key', async () => {
    const { page } = await openView(`${RANGE}&pen=;local/T1.FLOW`)
    await page.keyboard.press('o')
    await page.getByRole('tab', { name: 'Statistics' }).click()
    const url = await page.evaluate(() => location.href)
    assert.ok(!url.includes(service.readKey) && !url.includes('key='))
    const again = await open(service, service.readKey, new URL(url).hash.slice(1))
    assert.equal(await again.page.evaluate(() => location.href), url)
    assert.equal(
      await again.page.getByRole('tab', { name: 'Statistics' }).getAttribute('aria-selected'),
      'true',
    )
    const [one, two] = await Promise.all(
      [page, again.page].map((each) => each.locator('#chart canvas.plot').screenshot()),
    )
    assert.ok(one!.equals(two!), 'the same picture')
  })

  it('a stream of pans cancels what it made needless: one request in flight for each pen', async () => {
    const { page, inFlight } = await openView(`${RANGE}&pen=;local/T1.FLOW&pen=;local/T1.TEMP`)
    await page.locator('#chart').focus()
    for (let count = 0; count < 200; count++)
      await page.keyboard.press(count % 3 === 0 ? 'Shift+ArrowLeft' : 'ArrowRight')
    await settled(page)
    assert.ok(inFlight().most <= 2, `${inFlight().most} requests in flight`)
    assert.equal(inFlight().now, 0)
  })
})
