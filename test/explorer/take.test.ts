import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { parse } from 'csv-parse/sync'
import type { Page } from 'playwright-core'
import { until } from '../until.ts'
import { missingBrowser, open, settled, viewOf } from './browser.ts'
import { FORMULA, RANGE, startPlant } from './plant.ts'

const missing = missingBrowser()

async function saved(page: Page, entry: string): Promise<Buffer> {
  await page.getByRole('button', { name: 'Take away' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: entry }).click(),
  ])
  return readFile(await download.path())
}

async function copied(page: Page, entry: string): Promise<string> {
  // What was copied before, and the sentence that it was, may still be there.
  await page.evaluate(() => navigator.clipboard.writeText(''))
  await page.getByRole('button', { name: 'Take away' }).click()
  await page.getByRole('button', { name: entry }).click()
  await page.getByText('Copied.').waitFor()
  return until(
    () => page.evaluate(() => navigator.clipboard.readText()).then((text) => text || null),
    'a text',
  )
}

describe('computing and taking away', { skip: missing ?? false }, async () => {
  const service = missing === null ? await startPlant() : null!
  const openView = (view: string, key = service.readKey) => open(service, key, view)
  const formula = `pen=c0;${encodeURIComponent(`local/${FORMULA}`)}`

  it('CSV of all raw points is what the historian has, and no cell is a formula', async () => {
    const { page } = await openView(`${RANGE}&${formula}&pen=c1;local/T1.LEVEL&pen=c2;local/T1.FLOW`)
    const text = (await saved(page, 'CSV of all raw points')).toString()
    const rows = parse(text, { columns: true }) as {
      tag: string
      timestamp: string
      value: string
      status: string
    }[]
    assert.equal(rows.filter(({ tag }) => tag === 'local/T1.FLOW').length, 721)
    assert.deepEqual(
      rows.filter(({ tag }) => tag === 'local/T1.LEVEL').map(({ value, status }) => [value, status]),
      [
        ['60', 'OK'],
        ['90', 'BAD'],
        ['40', 'OK'],
      ],
    )
    assert.equal(rows[0]!.tag, `local/${FORMULA}`)
    assert.ok(!text.includes(service.readKey))
    for (const row of rows)
      for (const cell of Object.values(row)) assert.doesNotMatch(cell, /^[=+@]|^-(?![\d.])/)
    const seen = (await saved(page, 'CSV of what is drawn')).toString()
    assert.ok(seen.startsWith('tag,timestamp,value,status\r\n') && seen.includes('local/T1.FLOW,'))
  })

  it('a picture is saved as PNG with the names of its pens', async () => {
    const { page } = await openView(`${RANGE}&pen=c1;local/T1.TEMP`)
    const picture = await saved(page, 'PNG of the chart')
    assert.deepEqual([...picture.subarray(1, 4)], [...Buffer.from('PNG')])
    const canvas = await page.evaluate(
      () => document.querySelector<HTMLCanvasElement>('#chart canvas')!.height,
    )
    assert.ok(picture.readUInt32BE(20) > canvas)
  })

  it('values are copied as a table that a spreadsheet takes as text and numbers', async () => {
    const { page } = await openView(`${RANGE}&${formula}&pen=c1;local/T1.TEMP`)
    await page.locator('#chart').focus()
    await page.keyboard.press('End')
    const lines = (await copied(page, 'Values as a table'))
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
    assert.deepEqual(lines[0], ['tag', 'value', 'unit', 'time', 'description'])
    assert.equal(lines[1]![2], "'@x")
    assert.equal(lines[1]![4], "'=1+1")
    assert.deepEqual(lines[2]!.slice(0, 3), ['local/T1.TEMP', '50', 'degC'])
  })

  it('calls for curl, Python and JavaScript run as they stand and take the key from the environment', async (context) => {
    const { page } = await openView(`${RANGE}&pen=c1;local/T1.FLOW&pen=c2;local/T1.LEVEL`)
    const env = { ...process.env, TIDEMARK_KEY: service.readKey }
    const calls = [
      ['Call for curl', '/bin/sh', 'curl'],
      ['Call in Python', 'python3', 'python3'],
      ['Call in JavaScript', process.execPath, process.execPath],
    ] as const
    for (const [entry, program, needed] of calls) {
      const text = await copied(page, entry)
      assert.ok(!text.includes(service.readKey) && text.includes('TIDEMARK_KEY'))
      if (spawnSync(needed, ['--version']).status !== 0) {
        context.diagnostic(`${entry}: ${needed} is not installed`)
        continue
      }
      const args = program === process.execPath ? ['--input-type=module', '-e', text] : ['-c', text]
      const output = execFileSync(program, args, { env, encoding: 'utf8' })
      if (entry === 'Call for curl')
        assert.equal(JSON.parse(output).results['local/T1.FLOW'].dataPoints.length, 720)
      else assert.match(output, /local\/T1\.FLOW 720 points\nlocal\/T1\.LEVEL 3 points/)
    }
  })

  it('a calculation is typed with completion, checked where it is wrong, costed, and becomes a pen', async () => {
    const { page } = await openView(RANGE)
    await page.getByRole('tab', { name: 'Calculate' }).click()
    const field = page.getByLabel('Calculation', { exact: true })
    await field.pressSequentially('PERC')
    await page.getByRole('option', { name: /PERCENTDEV\(a, b\)/ }).waitFor()
    await page.keyboard.press('Enter')
    assert.equal(await field.inputValue(), 'PERCENTDEV(')
    await field.pressSequentially('T1.TE')
    await page.getByRole('option', { name: /local\/T1\.TEMP/ }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await field.inputValue(), 'PERCENTDEV(local/T1.TEMP')
    await field.pressSequentially(', local/NOPE)')
    await page.locator('.calculator .error', { hasText: 'local/NOPE does not exist' }).waitFor()
    await field.fill('PERCENTDEV(local/T1.TEMP, )')
    await page.locator('.checked mark').waitFor()
    const marked = await page.locator('.checked').evaluate((box) => {
      const mark = box.querySelector('mark')!
      const range = document.createRange()
      range.setStart(box, 0)
      range.setEndBefore(mark)
      return range.toString().length
    })
    const issue = await service.post('/historian/multi', {
      requests: { a: { type: 'CURRENT_POINT', tag: 'calc/PERCENTDEV(local/T1.TEMP, )' } },
    })
    const [{ column }] = issue.body.issues as [{ column: number }]
    assert.equal(marked, column - 1 - 'calc/'.length)
    await field.fill('SUB(local/T1.TEMP, local/T2.TEMP)')
    await page.locator('.cost').waitFor()
    assert.match(await page.locator('.cost').innerText(), /Historian load[\s\S]*of 500,000[\s\S]*2 of 100/)
    await page.getByRole('button', { name: 'Add to the trend' }).click()
    await settled(page)
    assert.deepEqual((await viewOf(page)).getAll('pen'), ['c0;calc/SUB(local/T1.TEMP, local/T2.TEMP)'])
    await page.locator('#chart').focus()
    await page.keyboard.press('Home')
    assert.equal((await page.locator('.pens .value').innerText()).trim(), '0')
  })

  it('who may write saves a calculation as an alias; who may not sees nothing of it', async () => {
    const reader = await openView(RANGE)
    await reader.page.getByRole('tab', { name: 'Calculate' }).click()
    await reader.page.waitForTimeout(300)
    assert.equal(await reader.page.getByText('Save as an alias').count(), 0)
    const { page } = await openView(RANGE, service.writeKey)
    await page.getByRole('tab', { name: 'Calculate' }).click()
    await page.getByText('Save as an alias').waitFor()
    await page.getByLabel('Calculation', { exact: true }).fill('ADD(local/T1.TEMP, 1)')
    await page.locator('.cost').waitFor()
    await page.getByLabel('Name of the alias').fill('warmer')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as aliases/warmer.').waitFor()
    assert.deepEqual((await viewOf(page)).getAll('pen'), ['c0;aliases/warmer'])
  })
})
