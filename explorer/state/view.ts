/** A horizontal line or curve that a pen should stay below or above. */
export interface Limit {
  readonly side: 'high' | 'low'
  /** A number, or the address of a tag or calculation. */
  readonly value: number | string
}

/** A tag or calculation in the trend. */
export interface Pen {
  readonly address: string
  /** Number of a colour of the palette. */
  readonly color: number
  readonly hidden: boolean
  /** Ends of its own scale; null where it follows the data. */
  readonly low: number | null
  readonly high: number | null
  readonly limits: readonly Limit[]
}

export type Scales = 'unit' | 'pen' | 'shared'
export type Panel = 'pens' | 'statistics' | 'points' | 'intervals'

/** All that the page shows, as it stands in its address. */
export interface View {
  readonly pens: readonly Pen[]
  /** Times as they were typed: `*-8h`, or an instant. */
  readonly from: string
  readonly to: string
  readonly zone: string
  readonly lanes: boolean
  readonly scales: Scales
  /** Days by which an earlier period lies under this one; 0 for none. */
  readonly earlierDays: number
  /** Instants of the two cursors. */
  readonly a: number | null
  readonly b: number | null
  readonly panel: Panel
  /** Address of the pen that points and gaps are listed of. */
  readonly selected: string
  /** The condition of the intervals. */
  readonly condition: string
  /** Least length of the gaps that are listed instead; empty for none. */
  readonly gaps: string
}

export const PALETTE_SIZE = 10
export const MOST_PENS = 24
const PANELS: readonly Panel[] = ['pens', 'statistics', 'points', 'intervals']

export function emptyView(zone: string): View {
  return {
    pens: [],
    from: '*-8h',
    to: '*',
    zone,
    lanes: false,
    scales: 'unit',
    earlierDays: 0,
    a: null,
    b: null,
    panel: 'pens',
    selected: '',
    condition: '',
    gaps: '',
  }
}

/** A pen with the colour that is used least. */
export function newPen(address: string, pens: readonly Pen[]): Pen {
  const uses = Array.from({ length: PALETTE_SIZE }, () => 0)
  for (const { color } of pens) uses[color % PALETTE_SIZE]!++
  const color = uses.indexOf(Math.min(...uses))
  return { address, color, hidden: false, low: null, high: null, limits: [] }
}

/** Whether the right end of a range moves on with the clock. */
export function followsNow(to: string): boolean {
  return /^(?:\*|now)$/i.test(to.trim())
}

/** The view as the part of an address behind `#`. It never holds a key. */
export function viewToHash(view: View, zone: string): string {
  const fields = new URLSearchParams()
  fields.set('from', view.from)
  fields.set('to', view.to)
  if (view.zone !== zone) fields.set('zone', view.zone)
  if (view.lanes) fields.set('lanes', '1')
  if (view.scales !== 'unit') fields.set('scales', view.scales)
  if (view.earlierDays !== 0) fields.set('earlier', String(view.earlierDays))
  if (view.a !== null) fields.set('a', String(view.a))
  if (view.b !== null) fields.set('b', String(view.b))
  if (view.panel !== 'pens') fields.set('panel', view.panel)
  if (view.selected !== '') fields.set('selected', view.selected)
  if (view.condition !== '') fields.set('when', view.condition)
  if (view.gaps !== '') fields.set('gaps', view.gaps)
  for (const pen of view.pens) fields.append('pen', penToText(pen))
  return fields
    .toString()
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
    .replaceAll('%3B', ';')
    .replaceAll('%2C', ',')
    .replaceAll('%28', '(')
    .replaceAll('%29', ')')
}

/** The view of an address; what cannot be read in it is as in a new view. */
export function hashToView(hash: string, zone: string, isZone: (name: string) => boolean): View {
  const fields = new URLSearchParams(hash.replace(/^#/, ''))
  const fresh = emptyView(zone)
  const panel = fields.get('panel') as Panel
  const scales = fields.get('scales') as Scales
  const namedZone = fields.get('zone') ?? ''
  const pens = fields.getAll('pen').map(penFromText)
  return {
    pens: pens.filter((pen, index) => isNewPen(pen, index, pens)).slice(0, MOST_PENS),
    from: fields.get('from') || fresh.from,
    to: fields.get('to') || fresh.to,
    zone: namedZone !== '' && isZone(namedZone) ? namedZone : zone,
    lanes: fields.get('lanes') === '1',
    scales: scales === 'pen' || scales === 'shared' ? scales : 'unit',
    earlierDays: Math.min(3_660, Math.max(0, Math.round(numberOf(fields.get('earlier')) ?? 0))),
    a: numberOf(fields.get('a')),
    b: numberOf(fields.get('b')),
    panel: PANELS.includes(panel) ? panel : 'pens',
    selected: fields.get('selected') ?? '',
    condition: fields.get('when') ?? '',
    gaps: fields.get('gaps') ?? '',
  }
}

function isNewPen({ address }: Pen, index: number, pens: readonly Pen[]): boolean {
  return address !== '' && pens.findIndex((other) => other.address === address) === index
}

/** `c3,hidden,low:0,high:100;demo/T101.LEVEL`: an address may hold anything, so it comes last. */
function penToText({ address, color, hidden, low, high, limits }: Pen): string {
  const options = [`c${color}`]
  if (hidden) options.push('hidden')
  if (low !== null) options.push(`low:${low}`)
  if (high !== null) options.push(`high:${high}`)
  for (const { side, value } of limits) {
    options.push(`${side === 'high' ? 'max' : 'min'}:${typeof value === 'number' ? value : escaped(value)}`)
  }
  return `${options.join(',')};${address}`
}

function penFromText(text: string): Pen {
  const at = text.indexOf(';')
  const options = text.slice(0, Math.max(at, 0)).split(',')
  let pen: Pen = { ...newPen(text.slice(at + 1), []), color: 0 }
  for (const option of options) {
    const [name = '', value = ''] = option.split(/:(.*)/s)
    const color = /^c(\d{1,2})$/.exec(option)?.[1]
    if (color !== undefined) pen = { ...pen, color: Number(color) % PALETTE_SIZE }
    else if (option === 'hidden') pen = { ...pen, hidden: true }
    else if (name === 'low' || name === 'high') pen = { ...pen, [name]: numberOf(value) }
    else if ((name === 'max' || name === 'min') && value !== '') {
      const limit: Limit = {
        side: name === 'max' ? 'high' : 'low',
        value: numberOf(value) ?? decodeURIComponentSafely(value),
      }
      pen = { ...pen, limits: [...pen.limits, limit] }
    }
  }
  return pen
}

function escaped(value: string): string {
  return encodeURIComponent(value)
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function numberOf(text: string | null): number | null {
  if (text === null || text.trim() === '') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : null
}
