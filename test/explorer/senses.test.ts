import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, it } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { chartBox, countPixels, missingBrowser, open, settled, viewOf } from './browser.ts'
import { RANGE, startPlant } from './plant.ts'

const missing = missingBrowser()
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }

const fingers = new Map<Page, Promise<CDPSession>>()

/** Sends touches as a screen does, several fingers at once. */
async function touch(
  page: Page,
  type: string,
  points: readonly (readonly [number, number])[],
): Promise<void> {
  // The fingers on the screen are remembered by the session.
  const client = await fingers.getOrInsertComputed(page, () => page.context().newCDPSession(page))
  await client.send('Input.dispatchTouchEvent', {
    type: type as 'touchStart',
    touchPoints: points.map(([x, y], id) => ({ x, y, id })),
  })
}

async function lengthOf(page: Page): Promise<number> {
  const view = await viewOf(page)
  return Date.parse(view.get('to')!) - Date.parse(view.get('from')!)
}

describe('keyboard, touch and screen readers', { skip: missing ?? false }, async () => {
  const service = missing === null ? await startPlant() : null!
  const openView = (view: string, options = {}) => open(service, service.readKey, view, options)

  it('the whole tour by keyboard alone', async () => {
    const { page, complaints } = await openView(RANGE)
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await press('/')
    await page.keyboard.type('flow')
    await page.waitForFunction(() => document.querySelectorAll('#found .tag').length === 1)
    await press('ArrowDown', 'Enter')
    await settled(page)
    assert.deepEqual((await viewOf(page)).getAll('pen'), ['c0;local/T1.FLOW'])
    await press('g')
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'chart')
    await press('ArrowUp', 'ArrowRight')
    await page.waitForFunction(() => !location.hash.includes('10:00:00'))
    const zoomed = await lengthOf(page)
    assert.ok(zoomed < 5_000_000, `${zoomed}`)
    await press('Home', '>', 'a', '>', 'b')
    assert.ok((await viewOf(page)).has('a') && (await viewOf(page)).has('b'))
    await press('1', 'c', 'o', 'k')
    const view = await viewOf(page)
    assert.equal(view.get('lanes'), '1')
    assert.match(view.get('pen')!, /^c1,low:-?[\d.]+,high:[\d.]+;local\/T1\.FLOW$/)
    await press('h')
    assert.match((await viewOf(page)).get('pen')!, /hidden/)
    await press('h', 's', 's')
    const address = await page.evaluate(() => location.hash)
    await press('Backspace')
    // The browser goes back later.
    await page.waitForFunction((before) => location.hash !== before, address)
    await press('?')
    assert.ok(await page.getByText('Keys and gestures').first().isVisible())
    await press('Escape')
    const [left, length] = [(await viewOf(page)).get('from')!, await lengthOf(page)]
    await press('[')
    await page.waitForFunction(
      (from) => new URLSearchParams(location.hash.slice(1)).get('from') !== from,
      left,
    )
    const moved = Date.parse(left) - Date.parse((await viewOf(page)).get('from')!)
    assert.ok(Math.abs(moved - length) < 10, `${moved} of ${length}`)
    await press('l')
    await page.waitForFunction(() => location.hash.includes('to=*'))
    // Every control can be reached: the focus goes through the page and comes round.
    const reached = new Set<string>()
    for (let count = 0; count < 80; count++) {
      await press('Tab')
      reached.add(
        await page.evaluate(() => {
          const at = document.activeElement
          return (
            at?.id ||
            at?.getAttribute('aria-label') ||
            at?.getAttribute('name') ||
            at?.textContent?.trim() ||
            ''
          )
        }),
      )
    }
    for (const name of [
      'From',
      'To',
      'Live',
      'Display',
      'Take away',
      'search',
      'chart',
      'Remove local/T1.FLOW',
      'tab-pens',
    ])
      assert.ok(
        reached.has(name) || [...reached].some((one) => one.startsWith(name)),
        `${name} in ${[...reached]}`,
      )
    assert.deepEqual(complaints, [])
  })

  it('a phone by touch: one finger pans, two pinch, a tap reads, the finder opens over the chart', async () => {
    const { page, complaints } = await openView(`${RANGE}&pen=c0;local/T1.FLOW`, PHONE)
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      'nothing is wider than the screen',
    )
    const box = await chartBox(page)
    const y = box.y + box.height / 2
    await page.touchscreen.tap(box.x + 200, y)
    assert.equal(await page.getByText('500').count(), 0)
    await touch(page, 'touchStart', [[box.x + 300, y]])
    for (const x of [280, 250, 220, 200]) await touch(page, 'touchMove', [[box.x + x, y]])
    await touch(page, 'touchEnd', [])
    await page.waitForFunction(() => !location.hash.includes('10:00:00'))
    assert.ok(Math.abs((await lengthOf(page)) - 7_200_000) < 10)
    const finger = (gap: number) =>
      [
        [box.x + 200 - gap, y],
        [box.x + 200 + gap, y],
      ] as const
    await touch(page, 'touchStart', finger(30))
    for (const gap of [40, 60, 80, 90]) await touch(page, 'touchMove', finger(gap))
    await touch(page, 'touchEnd', [])
    await page.waitForFunction(() => {
      const view = new URLSearchParams(location.hash.slice(1))
      return Date.parse(view.get('to')!) - Date.parse(view.get('from')!) < 3_600_000
    })
    await page.getByRole('button', { name: 'Tags' }).tap()
    await page.getByLabel('Search tags').fill('level')
    await page
      .getByRole('button', { name: /T1\.LEVEL/ })
      .first()
      .tap()
    await page.getByRole('button', { name: 'Close' }).tap()
    await settled(page)
    assert.equal((await viewOf(page)).getAll('pen').length, 2)
    assert.deepEqual(complaints, [])
  })

  it('colours are those of the system, or those that were chosen, on the page and in the chart', async () => {
    const { page, complaints } = await openView(`${RANGE}&pen=c0;local/T1.FLOW`, { colorScheme: 'dark' })
    const colours = async () => {
      await settled(page)
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      return [background, (await countPixels(page, 0)) > 100, await page.evaluate(paletteOf)]
    }
    const dark = ['rgb(16, 22, 28)', true, '74, 168, 224']
    const light = ['rgb(255, 255, 255)', true, '0, 114, 178']
    assert.deepEqual(await colours(), dark)
    await page.emulateMedia({ colorScheme: 'light' })
    assert.deepEqual(await colours(), light)
    await page.getByRole('button', { name: 'Display' }).click()
    await page.getByLabel('Dark').check()
    assert.deepEqual(await colours(), dark)
    await page.reload()
    assert.deepEqual(await colours(), dark)
    await page.getByRole('button', { name: 'Display' }).click()
    await page.getByLabel('As the system').check()
    assert.deepEqual(await colours(), light)
    assert.deepEqual(complaints, [])
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`no violation of accessibility rules, ${colorScheme}, in every table and menu`, async () => {
      const { page, complaints } = await openView(
        `${RANGE}&pen=c0;local/T1.FLOW&pen=c1;local/V1.STATE&when=local/P1.RUNNING`,
        {
          colorScheme,
          bypassCSP: true,
        },
      )
      await page.addScriptTag({ content: axeSource() })
      const check = async (where: string) => {
        const violations = await page.evaluate(async () => {
          const { axe } = window as unknown as { axe: { run(): Promise<{ violations: unknown[] }> } }
          return (await axe.run()).violations
        })
        assert.deepEqual(
          violations.map((one) => JSON.stringify(one).slice(0, 900)),
          [],
          where,
        )
      }
      for (const tab of ['Statistics', 'Points', 'Intervals and gaps', 'Pens']) {
        await page.getByRole('tab', { name: tab }).click()
        await settled(page)
        await page.waitForFunction(() => document.querySelector('#tables table[data-busy="true"]') === null)
        await check(tab)
      }
      await page.getByRole('button', { name: 'Scale and limits of local/T1.FLOW' }).click()
      for (const tab of ['Tree', 'Calculate']) {
        await page.getByRole('tab', { name: tab }).click()
        await page.waitForTimeout(200)
        await check(tab)
      }
      for (const menu of ['Display', 'Take away', 'Keys and gestures']) {
        await page.getByRole('button', { name: menu }).click()
        await check(menu)
        await page.keyboard.press('Escape')
      }
      assert.deepEqual(complaints, [])
    })
  }
})

/** The colour of the first pen that most of the chart's pixels have which it covers wholly. */
function paletteOf(): string {
  const canvas = document.querySelector<HTMLCanvasElement>('#chart canvas.plot')!
  const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
  const counts = new Map<string, number>()
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue, alpha] = data.subarray(at, at + 4)
    // Blue as the first pen is; axes and grid are nearly grey.
    if (alpha !== 255 || blue! - red! < 100) continue
    const color = `${red}, ${green}, ${blue}`
    counts.set(color, (counts.get(color) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'none'
}

function axeSource(): string {
  return readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
}
