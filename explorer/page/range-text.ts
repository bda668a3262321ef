import { span, view, zone } from '../state/store.ts'
import { clockText, dateText, isDoubled, offsetText } from '../time/zone.ts'

/** What the two fields of the range show: what was typed, and instants as a wall clock shows them. */
export function displayedEnds(): { readonly from: string; readonly to: string } {
  const { from, to } = view.value
  const seconds = span.value.to - span.value.from < 600_000
  return { from: shown(from, seconds), to: shown(to, seconds) }
}

function shown(text: string, seconds: boolean): string {
  const at = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) return text
  const place = zone.value
  // The zone of the page is what the service is asked with; in a doubled hour only the offset tells which one is meant.
  const offset = isDoubled(at, place) ? offsetText(at, place) : ''
  const separator = offset === '' ? ' ' : 'T'
  return `${dateText(at, place)}${separator}${clockText(at, place, seconds ? 'ms' : 'second')}${offset}`
}
