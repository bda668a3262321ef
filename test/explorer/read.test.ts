import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { chartBox, countPixels, missingBrowser, open, settled, viewOf } from './browser.ts'
import { FORMULA, HOSTILE, RANGE, startPlant } from './plant.ts'

const missing = missingBrowser()

/** Cells of the rows of the open table. */
async function table(page: Page): Promise<readonly (readonly string[])[]> {
  return page
    .locator('#tables tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => Array.from((row as HTMLTableRowElement).cells, (cell) => cell.innerText.trim())),
    )
}

async function untilRows(page: Page, count: number): Promise<void> {
  await page.waitForFunction(
    (wanted) => document.querySelectorAll('#tables tbody tr').length >= wanted,
    count,
  )
  await page.waitForFunction(() => document.querySelector('#tables table[data-busy="true"]') === null)
}

describe('finding and reading', { skip: missing ?? false }, async () => {
  const service = missing === null ? await startPlant() : null!
  const openView = (view: string, key = service.readKey) => open(service, key, view)

  it('without a key there is a field for one, and nothing of any historian', async () => {
    const { page, complaints } = await open(service, '', '')
    await page.getByLabel('API key').waitFor()
    assert.doesNotMatch(await page.content(), /local|T1\.FLOW/)
    await page.getByLabel('API key').fill('wrong')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.waitForFunction(() => document.querySelector('#key-note')?.textContent !== '')
    await page.getByLabel('API key').fill(service.readKey)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('button', { name: /T1\.FLOW/ }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: /T1\.FLOW/ }).waitFor()
    assert.deepEqual(complaints, [])
  })

  it('the key leaves the address at once and is kept for the tab only', async () => {
    const { page } = await openView('')
    assert.ok(!(await page.evaluate(() => location.href)).includes(service.readKey))
    assert.equal(await page.evaluate(() => localStorage.length), 0)
    const other = await page.context().newPage()
    await other.goto(service.url)
    await other.getByLabel('API key').waitFor()
    assert.doesNotMatch(await other.content(), /local|T1\.FLOW/)
  })

  it('tags are found by parts of name or description while typing, several are added at once', async () => {
    const { page } = await openView(RANGE)
    await page.keyboard.press('/')
    await page.keyboard.type('tank temp')
    await page.waitForFunction(() => document.querySelectorAll('#found .tag').length === 1)
    await page.keyboard.press('Enter')
    await page.getByLabel('Search tags').fill('temp')
    await page.waitForFunction(() => document.querySelectorAll('#found .tag').length === 2)
    await page
      .getByRole('button', { name: /T2\.TEMP/ })
      .first()
      .click()
    assert.deepEqual((await viewOf(page)).getAll('pen'), ['c0;local/T1.TEMP', 'c1;local/T2.TEMP'])
    await page.getByLabel('Search tags').fill('nothing like it')
    await page.getByText('No tag has “nothing like it” in it.').waitFor()
  })

  it('the tree takes names apart', async () => {
    const { page } = await openView(RANGE)
    await page.getByRole('tab', { name: 'Tree' }).click()
    await page.getByRole('button', { name: 'T1.', exact: true }).click()
    await page.getByRole('button', { name: /T1\.FLOW/ }).click()
    assert.deepEqual((await viewOf(page)).getAll('pen'), ['c0;local/T1.FLOW'])
  })

  it('the cursor reads each pen: its value, the point’s own time, quality, unit and description', async () => {
    const { page } = await openView(
      `${RANGE}&pen=c0;local/T1.TEMP&pen=c1;local/T1.LEVEL&pen=c2;local/P1.RUNNING`,
    )
    await page.locator('#chart').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('<')
    const rows = await table(page)
    assert.deepEqual(rows[2]!.slice(1, 5), ['local/P1.RUNNING', '0', '', '2026-01-15 12:30:00'])
    assert.deepEqual(rows[0]!.slice(3, 6), ['degC', rows[0]![4], 'Tank temperature'])
    const box = await chartBox(page)
    // A few minutes after 11:00 Z, where the level is BAD.
    await page.mouse.move(box.x + box.width * 0.58, box.y + 60)
    await page.waitForFunction(
      () => document.querySelectorAll('.pens .value')[1]?.textContent?.trim() === 'BAD',
    )
    assert.equal((await table(page))[1]![4], '2026-01-15 12:00:00')
  })

  it('two cursors give differences in time and value, and aggregates between them', async () => {
    const { page } = await openView(
      `${RANGE}&pen=c0;local/T1.TEMP&panel=statistics&a=${Date.UTC(2026, 0, 15, 10)}&b=${Date.UTC(2026, 0, 15, 11)}`,
    )
    await untilRows(page, 1)
    assert.match(await page.locator('caption').innerText(), /^Between the cursors: 1 h, /)
    const [row] = await table(page)
    assert.deepEqual(row!.slice(0, 4), ['local/T1.TEMP', '50', '80', '30'])
    assert.ok(row!.includes('65'), `the mean of the signal: ${row}`)
    await page.locator('#chart').focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('a')
    await page.keyboard.press('End')
    await page.keyboard.press('b')
    assert.equal((await viewOf(page)).get('b'), String(Date.UTC(2026, 0, 15, 12)))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    assert.equal((await viewOf(page)).get('a'), null)
  })

  it('statistics of what is seen: extremes with their times, mean, deviation, coverage, percent good', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.FLOW&pen=c1;local/T1.LEVEL&panel=statistics`)
    await untilRows(page, 2)
    const [flow, level] = await table(page)
    assert.ok(flow!.includes('500') && flow!.includes('2026-01-15 11:50:00'), String(flow))
    assert.ok(flow!.includes('m3/h') && flow!.includes('100 %'))
    assert.deepEqual(level!.slice(-2), ['100 %', '66.66 %'])
  })

  it('statistics of a tag with states: how long it was in each, how often', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/V1.STATE&panel=statistics`)
    await page.locator('#tables .states li').nth(2).waitFor()
    const lines = await page.locator('#tables .states li').allInnerTexts()
    assert.deepEqual(
      lines.map((line) => line.replaceAll(/\s+/g, ' ').trim()),
      [
        'Closed 40 min, 33.33 %, 2 visits',
        'Open 1 h 15 min, 62.5 %, 1 visit',
        'Moving 5 min, 4.16 %, 1 visit',
      ],
    )
    const columns = await page.locator('#tables thead th').count()
    const widths = await page
      .locator('#tables tr.states td')
      .evaluateAll((cells) => cells.map((cell) => (cell as HTMLTableCellElement).colSpan))
    assert.equal(
      widths.reduce((sum, width) => sum + width, 0),
      columns,
    )
  })

  it('what is left out of raw points because stored data are damaged is said above them', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.LEVEL&pen=c1;local/P1.RUNNING&panel=points`)
    await untilRows(page, 3)
    const warning = 'Points of local/P1.RUNNING from 11:00 to 11:10 are left out'
    await page.route('**/historian/multi', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), warnings: [warning] } })
    })
    await page.getByLabel('Points of').selectOption('local/P1.RUNNING')
    await page.locator('#tables').getByText(warning).waitFor()
    await untilRows(page, 4)
  })

  it('raw points stand in a table with their status; next and previous point and change', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.LEVEL&pen=c1;local/P1.RUNNING&panel=points`)
    await untilRows(page, 3)
    assert.deepEqual(await table(page), [
      ['2026-01-15 11:30:00', '60', 'OK'],
      ['2026-01-15 12:00:00', '90', 'BAD'],
      ['2026-01-15 12:30:00', '40', 'OK'],
    ])
    await page.getByLabel('Points of').selectOption('local/P1.RUNNING')
    await untilRows(page, 4)
    await page.locator('#chart').focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('n')
    await page.waitForSelector('tr[data-here="true"]')
    assert.match(await page.locator('tr[data-here="true"]').innerText(), /^2026-01-15 11:15:00/)
    await page.keyboard.press('N')
    assert.match(await page.locator('tr[data-here="true"]').innerText(), /^2026-01-15 11:45:00/)
    await page.keyboard.press('p')
    assert.match(await page.locator('tr[data-here="true"]').innerText(), /^2026-01-15 11:15:00/)
  })

  it('intervals of a condition are listed and shaded, with values of another pen over each', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.TEMP&panel=intervals`)
    const before = await page.locator('#chart canvas.plot').screenshot()
    await page.getByLabel('Condition').fill('local/P1.RUNNING')
    await page.getByLabel('Condition').press('Enter')
    await untilRows(page, 2)
    const rows = await table(page)
    assert.deepEqual(
      rows.map((row) => row.slice(0, 3)),
      [
        ['2026-01-15 11:15:00', '2026-01-15 11:45:00', '30 min'],
        ['2026-01-15 12:15:00', '2026-01-15 12:30:00', '15 min'],
      ],
    )
    assert.equal(rows[0]![4], '65', `mean of the temperature: ${rows[0]}`)
    assert.ok(!before.equals(await page.locator('#chart canvas.plot').screenshot()), 'they are shaded')
    await page.getByRole('button', { name: 'Zoom' }).first().click()
    await page.waitForFunction(() => location.hash.includes('T11:10:30'))
  })

  it('more than a thousand intervals are listed page by page', async () => {
    const condition = encodeURIComponent('THRESHOLD(siggen/sin1@6, 0, 1, 0)')
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.TEMP&panel=intervals&when=${condition}`)
    await untilRows(page, 1_000)
    assert.match(await page.locator('#tables caption').innerText(), /^The first 1000 in what is seen/)
    const message = 'The call takes too long'
    await page.route('**/historian/multi', (route) => route.fulfill({ status: 504, json: { message } }), {
      times: 1,
    })
    await page.getByRole('button', { name: 'More' }).click()
    assert.match(await page.getByRole('alert').innerText(), new RegExp(message))
    await page.getByRole('button', { name: 'More' }).click()
    await untilRows(page, 1_200)
    assert.match(await page.locator('#tables caption').innerText(), /^120\d in what is seen, /)
    assert.equal(await page.getByRole('button', { name: 'More' }).count(), 0)
  })

  it('gaps are listed with their kind', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.LEVEL&panel=intervals`)
    await page.getByLabel('Gaps longer than').check()
    await page.getByLabel('Least length of a gap').fill('20min')
    await page.getByLabel('Least length of a gap').press('Enter')
    await untilRows(page, 1)
    const rows = await table(page)
    assert.ok(
      rows.some((row) => row.includes('BAD points')),
      JSON.stringify(rows),
    )
    await page.getByLabel('Least length of a gap').fill('twenty')
    await page.getByLabel('Least length of a gap').press('Enter')
    await page.locator('#tables .error').waitFor()
  })

  it('names, descriptions and units with markup stay text', async () => {
    const { page, complaints } = await openView(
      `${RANGE}&pen=;${encodeURIComponent(`local/${HOSTILE}`)}&pen=;${encodeURIComponent(`local/${FORMULA}`)}`,
    )
    let hasDialog = false
    page.on('dialog', () => (hasDialog = true))
    await page.getByLabel('Search tags').fill('onerror')
    await page.waitForFunction(() => document.querySelectorAll('#found .tag').length === 1)
    for (const tab of ['Statistics', 'Points', 'Intervals and gaps', 'Pens']) {
      await page.getByRole('tab', { name: tab }).click()
      await settled(page)
    }
    assert.equal(await page.locator('#page img, #page b, #page i').count(), 0)
    assert.ok((await page.locator('.pens').innerText()).includes('<img src=x onerror=alert(1)>'))
    assert.equal(hasDialog, false)
    assert.deepEqual(complaints, [])
    // A long name widens nothing beyond the window.
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
  })

  it('a pen that cannot be read says why in its row; the others are drawn', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/NOPE&pen=c1;local/T1.TEMP`)
    assert.equal(await page.locator('.problem .error').innerText(), 'Tag local/NOPE does not exist')
    assert.equal(await page.locator('.pens .value').nth(1).innerText(), '20')
  })

  it('what is being loaded is seen; when it fails the last picture stays, with a sentence', async () => {
    const { page } = await openView(`${RANGE}&pen=c0;local/T1.FLOW`)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/historian/multi', async (route) => {
      await released
      await route.abort()
    })
    await page.locator('#chart').focus()
    await page.keyboard.press('Shift+ArrowLeft')
    await page.waitForSelector('.loading[data-busy="true"]')
    assert.ok(await page.locator('.loading').isVisible())
    await page.keyboard.press('Shift+ArrowRight')
    release()
    await page.keyboard.press('ArrowDown')
    await settled(page)
    assert.equal(await page.locator('.problem .error').innerText(), 'The service cannot be reached.')
    assert.ok((await countPixels(page, 0)) > 500, 'the last good picture')
    await page.unroute('**/historian/multi')
    await page.keyboard.press('ArrowUp')
    await settled(page)
    assert.equal(await page.locator('.problem .error').count(), 0)
    assert.ok((await countPixels(page, 0)) > 500)
  })
})
