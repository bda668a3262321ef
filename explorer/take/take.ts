import { ROOT, sentenceFor, serviceNow } from '../api/client.ts'
import { isoOf } from '../api/multi.ts'
import { readPoints } from '../api/tables.ts'
import { reachMs } from '../chart/signals.ts'
import { readTheme } from '../chart/theme.ts'
import { valueText } from '../chart/value-ticks.ts'
import { loaders } from '../curves/loaders.ts'
import { readingAt } from '../curves/series.ts'
import { cursor, notice, shareAddress, span, view, visiblePens } from '../state/store.ts'
import { isoText, timeText } from '../time/zone.ts'
import { type Call, curlText, javascriptText, pythonText } from './code.ts'
import { csvLine, tabLine } from './csv.ts'

const HEADER = ['tag', 'timestamp', 'value', 'status']
const PAGE = 20_000
const MOST_ROWS = 1_000_000

/** The points that are drawn, in the long form that `import` takes. */
export function takeSeenCsv(): void {
  const { from, to } = span.peek()
  const parts = [csvLine(HEADER)]
  for (const { address } of visiblePens.peek()) {
    const series = loaders.peek().get(address)?.series.peek()
    if (series === undefined) continue
    for (const [index, at] of series.times.entries()) {
      if (at < from || at > to || Number.isNaN(series.values[index]!)) continue
      parts.push(csvLine([address, isoText(at, view.peek().zone), String(series.values[index]), 'OK']))
    }
  }
  download(new Blob(parts, { type: 'text/csv' }), 'csv')
}

/** All raw points of what is seen, page by page. */
export async function takeRawCsv(): Promise<void> {
  const { from, to } = span.peek()
  const { zone } = view.peek()
  const parts = [csvLine(HEADER)]
  let rows = 0
  const warnings = new Set<string>()
  try {
    for (const { address } of visiblePens.peek()) {
      let next = ''
      do {
        const page = await readPoints(address, from, to, { maxPoints: PAGE, cursor: next, zone })
        const lines = page.points.map(({ timestamp, value, status }) =>
          csvLine([address, timestamp, value === null ? '' : String(value), status]),
        )
        parts.push(lines.join(''))
        rows += lines.length
        for (const warning of page.warnings) warnings.add(warning)
        next = page.next
        notice.value = `${rows.toLocaleString('en')} points …`
      } while (next !== '' && rows < MOST_ROWS)
    }
    const more = rows >= MOST_ROWS ? ` The file ends after ${MOST_ROWS.toLocaleString('en')}.` : ''
    const left = [...warnings].map((warning) => ` ${warning}.`).join('')
    notice.value = `${rows.toLocaleString('en')} points.${more}${left}`
    download(new Blob(parts, { type: 'text/csv' }), 'csv')
  } catch (error) {
    notice.value = sentenceFor(error)
  }
}

/** The chart with the names of its pens. */
export async function takePng(canvas: HTMLCanvasElement): Promise<void> {
  const ratio = devicePixelRatio || 1
  const theme = readTheme()
  const pens = visiblePens.peek()
  const line = 20 * ratio
  const picture = document.createElement('canvas')
  picture.width = canvas.width
  picture.height = canvas.height + line * (pens.length + 1)
  const context = picture.getContext('2d')!
  context.fillStyle = theme.surface
  context.fillRect(0, 0, picture.width, picture.height)
  context.drawImage(canvas, 0, 0)
  context.font = `${12 * ratio}px ${theme.font}`
  context.textBaseline = 'middle'
  for (const [index, { address, color }] of pens.entries()) {
    const y = canvas.height + line * (index + 0.5)
    const metadata = loaders.peek().get(address)?.metadata.peek()
    context.fillStyle = theme.pens[color]!
    context.fillRect(12 * ratio, y - 5 * ratio, 10 * ratio, 10 * ratio)
    context.fillStyle = theme.ink
    const about = [address, metadata?.description, metadata?.units].filter(Boolean).join('   ')
    context.fillText(about, 30 * ratio, y)
  }
  const blob = await new Promise<Blob | null>((resolve) => picture.toBlob(resolve, 'image/png'))
  if (blob !== null) download(blob, 'png')
}

/** The values of all pens at the cursor, or their newest ones, as a table for a spreadsheet. */
export async function copyTable(): Promise<void> {
  const at = cursor.peek() ?? serviceNow()
  const { zone } = view.peek()
  const lines = [tabLine(['tag', 'value', 'unit', 'time', 'description'])]
  for (const { address } of visiblePens.peek()) {
    const loader = loaders.peek().get(address)
    const reading =
      loader === undefined ? null : readingAt(loader.series.peek(), at, loader.stepped.peek(), reachMs())
    const metadata = loader?.metadata.peek()
    const value = reading?.value == null ? '' : valueText(reading.value)
    const time = reading === null ? '' : timeText(reading.at, zone)
    lines.push(tabLine([address, value, metadata?.units ?? '', time, metadata?.description ?? '']))
  }
  await copy(lines.join(''))
}

/** The call for the raw points of what is seen. */
export function presentCall(): Call {
  const { from, to } = span.peek()
  const details = { from: isoOf(from), to: isoOf(to), maxPoints: 10_000 }
  const requests = Object.fromEntries(
    visiblePens.peek().map(({ address }) => [address, { type: 'RAW_POINTS', tag: address, details }]),
  )
  return { root: ROOT.href, body: { timeZone: view.peek().zone, requests } }
}

export const copyCurl = () => copy(curlText(presentCall()))
export const copyPython = () => copy(pythonText(presentCall()))
export const copyJavascript = () => copy(javascriptText(presentCall()))
export const copyAddress = () => copy(shareAddress())

async function copy(text: string): Promise<void> {
  try {
    if (navigator.clipboard === undefined) copyOldWay(text)
    else await navigator.clipboard.writeText(text)
    notice.value = 'Copied.'
  } catch {
    notice.value = 'The browser does not let this page copy.'
  }
}

/** Where the page is not served over HTTPS, browsers know no clipboard for it. */
function copyOldWay(text: string): void {
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  if (!isDone) throw new Error('not copied')
}

function download(blob: Blob, extension: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = `tidemark-${isoOf(span.peek().from).slice(0, 16).replace(':', '')}.${extension}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
