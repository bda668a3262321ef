import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serve, temporaryFolder } from '../cli/run.ts'
import { missingBrowser, open } from './browser.ts'

const missing = missingBrowser()
const TAGS = 1_000_000
/** As many as a call may name. */
const PER_CALL = 10_000
const KINDS = [
  'FLOW',
  'LEVEL',
  'TEMP',
  'PRESSURE',
  'CURRENT',
  'SPEED',
  'VALVE',
  'POWER',
  'DENSITY',
  'RUNNING',
]

/** `A` to `J` of 100 units each, with 1,000 instruments each of ten kinds: `C.U042.TEMP517`. */
async function startMillion() {
  const service = await serve([], { cwd: await temporaryFolder() })
  for (let start = 0; start < TAGS; start += PER_CALL) {
    const entries = Array.from({ length: PER_CALL }, (_, index) => {
      const number = start + index
      const unit = `${'ABCDEFGHIJ'[Math.floor(number / 100_000)]}.U${String(Math.floor(number / 1_000) % 100).padStart(3, '0')}`
      const kind = KINDS[number % 10]!
      const name = `local/${unit}.${kind}${String(number % 1_000).padStart(3, '0')}`
      return [name, { description: `${kind.toLowerCase()} of line ${number % 7}`, units: 'x' }]
    })
    const { status, body } = await service.post('/historian/metadata/create', {
      entries: Object.fromEntries(entries),
    })
    assert.equal(status, 200, JSON.stringify(body).slice(0, 500))
  }
  return service
}

describe('a million tags', { skip: missing ?? false }, async () => {
  const service = missing === null ? await startMillion() : null!

  it('are searched while typing, and shown in a tree', async () => {
    const { page, complaints } = await open(service, service.readKey, '')
    const search = page.getByLabel('Search tags')
    await search.pressSequentially('u042 temp512')
    await page.waitForFunction(() => document.querySelectorAll('#found .tag').length === 10)
    await search.fill('C.U042.TEMP512')
    await page.waitForFunction(() => document.querySelectorAll('#found .tag').length === 1)
    await search.fill('nothing like it')
    await page.getByText('No tag has “nothing like it” in it.').waitFor()
    // A hundred thousand are found, and the first ones shown.
    await search.fill('flow')
    await page.waitForFunction(() => document.querySelectorAll('#found .tag').length === 60)
    await page.getByRole('tab', { name: 'Tree' }).click()
    await page.getByRole('button', { name: 'J.', exact: true }).click()
    await page.getByRole('button', { name: 'U099.', exact: true }).click()
    await page
      .getByRole('button', { name: /CURRENT004/ })
      .first()
      .waitFor()
    assert.deepEqual(complaints, [])
  })
})
