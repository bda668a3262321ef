import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { RunningService } from '../cli/run.ts'

/** Debian's Chromium, or another one that is named. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** What has not come by then does not come: a machine that is slow or busy takes long. */
const PATIENCE_MS = 120_000

/** Why the tests in a browser cannot run here; null when they can. */
export function missingBrowser(): string | null {
  if (existsSync(CHROMIUM)) return null
  if (process.env.TIDEMARK_SERVERS === 'required') throw new Error(`${CHROMIUM} is missing`)
  return `${CHROMIUM} is not installed: CHROMIUM names another one`
}

let browser: Promise<Browser> | null = null

after(async () => {
  await (await browser)?.close()
})

export function startBrowser(): Promise<Browser> {
  // Containers have no user namespaces for the browser's sandbox; the pages are our own.
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'], timeout: PATIENCE_MS })
  return browser
}

export interface Explorer {
  readonly page: Page
  /** Sentences that the page may not cause: errors of scripts, and reports of its policy. */
  readonly complaints: readonly string[]
  /** Requests for data that are under way now, and the most that ever were. */
  readonly inFlight: () => { readonly now: number; readonly most: number }
}

/** Opens the explorer of a service with a key and a view, and waits until its pens are drawn. */
export async function open(
  service: Pick<RunningService, 'url'>,
  key: string,
  view: string,
  options: BrowserContextOptions = {},
): Promise<Explorer> {
  const context = await (await startBrowser()).newContext({
    viewport: { width: 1280, height: 800 },
    timezoneId: 'Europe/Oslo',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error.stack)))
  page.on('console', (message) => {
    // Refused requests are told on the page, and by the browser here too.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    )
  })
  let now = 0
  let most = 0
  page.on('request', (request) => {
    if (!request.url().endsWith('/historian/multi')) return
    most = Math.max(most, ++now)
  })
  const done = (request: { url(): string }) => {
    if (request.url().endsWith('/historian/multi')) now--
  }
  page.on('requestfinished', done)
  page.on('requestfailed', done)
  await page.goto(`${service.url}/#${key === '' ? '' : `key=${key}&`}${view}`)
  if (key !== '') await settled(page)
  return { page, complaints, inFlight: () => ({ now, most }) }
}

/** Waits until nothing is being loaded and the picture stands. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('#chart canvas.plot')
  await page.waitForFunction(() => document.querySelector('.loading')?.getAttribute('data-busy') === 'false')
  await page.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 30))),
      ),
  )
  await page.waitForFunction(() => document.querySelector('.loading')?.getAttribute('data-busy') === 'false')
}

/** What the address says. */
export async function viewOf(page: Page): Promise<URLSearchParams> {
  return new URLSearchParams(await page.evaluate(() => location.hash.slice(1)))
}

/** The box of the chart, in the window. */
export async function chartBox(page: Page): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await page.locator('#chart').boundingBox()
  assert.ok(box !== null)
  return box
}

/**
 * Pixels of the curves that are near a colour of the palette, in a part of the chart in shares of its width: how many
 * there are, and the rows of the picture with any, ascending from the top.
 */
async function pixelsOf(page: Page, pen: number, from: number, to: number) {
  return page.evaluate(
    ([number, start, end]) => {
      const canvas = document.querySelector<HTMLCanvasElement>('#chart canvas.plot')!
      const probe = document.body.appendChild(document.createElement('span'))
      probe.style.color = `var(--pen-${number})`
      const wanted = getComputedStyle(probe).color.match(/\d+/g)!.map(Number)
      probe.remove()
      const left = Math.floor(canvas.width * start!)
      const width = Math.max(1, Math.floor(canvas.width * (end! - start!)))
      const { data } = canvas.getContext('2d')!.getImageData(left, 0, width, canvas.height)
      let count = 0
      const rows = new Set<number>()
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3]! < 128) continue
        if (!wanted.every((part, index) => Math.abs(part - data[at + index]!) < 40)) continue
        count++
        rows.add(Math.floor(at / 4 / width))
      }
      return { count, rows: [...rows].sort((a, b) => a - b) }
    },
    [pen, from, to] as const,
  )
}

export async function countPixels(page: Page, pen: number, from = 0, to = 1): Promise<number> {
  return (await pixelsOf(page, pen, from, to)).count
}

/** Rows of the picture, from the top, that a pen colours in a part of its width. */
export async function rowsOf(page: Page, pen: number, from: number, to: number): Promise<readonly number[]> {
  return (await pixelsOf(page, pen, from, to)).rows
}
