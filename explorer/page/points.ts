import { html, nothing } from 'lit-html'
import type { DataPoint } from '../api/multi.ts'
import { toPoint } from '../chart/keys.ts'
import { valueText } from '../chart/value-ticks.ts'
import { adjust, cursor, selectedPen, view } from '../state/store.ts'
import { timeText } from '../time/zone.ts'
import { earlierIcon, laterIcon } from './icons.ts'
import { morePoints, pointsData } from './table-data.ts'

/** The raw points of the selected pen in what is seen. */
export function points() {
  const data = pointsData.value.value
  const address = selectedPen.value?.address ?? ''
  if (address === '') return html`<p class="empty">No pen to list points of.</p>`
  const isShown = data?.address === address
  const rows = isShown ? data.points : []
  const warnings = isShown ? data.warnings : []
  return html`
    <div class="toolbar">
      ${penChoice('Points of')}
      <button class="icon-button" aria-label="Previous point" title="Previous point (P)" @click=${() => toPoint(-1, false)}>${earlierIcon}</button>
      <button class="icon-button" aria-label="Next point" title="Next point (N)" @click=${() => toPoint(1, false)}>${laterIcon}</button>
      <button class="quiet" @click=${() => toPoint(-1, true)} title="Shift + P">Previous change</button>
      <button class="quiet" @click=${() => toPoint(1, true)} title="Shift + N">Next change</button>
    </div>
    ${pointsData.error.value === '' ? nothing : html`<p class="error table-note" role="alert">${pointsData.error.value}</p>`}
    ${warnings.map((warning) => html`<p class="error table-note" role="status">${warning}</p>`)}
    <table class="points" data-busy=${pointsData.isLoading.value}>
      <thead><tr><th scope="col">Time</th><th scope="col" class="number">Value</th><th scope="col">Status</th></tr></thead>
      <tbody>${rows.map(pointRow)}</tbody>
    </table>
    ${rows.length === 0 && !pointsData.isLoading.value ? html`<p class="table-note">No point in what is seen.</p>` : nothing}
    ${data?.next ? html`<button class="more" @click=${morePoints}>More</button>` : nothing}`
}

function pointRow({ timestamp, value, status, enumString }: DataPoint) {
  const at = Date.parse(timestamp)
  const show = () => {
    cursor.value = at
  }
  return html`<tr data-here=${cursor.value === at}>
    <td class="time"><button class="pen-name" @click=${show}>${timeText(at, view.value.zone)}</button></td>
    <td class="number">${enumString ?? valueText(value)}</td>
    <td class=${status === 'BAD' ? 'error' : 'quiet'}>${status}</td>
  </tr>`
}

/** A choice of the pen that a table is about. */
export function penChoice(label: string) {
  return html`<label class="choice">${label}
    <select @change=${(event: Event) => adjust({ selected: (event.target as HTMLSelectElement).value })}>
      ${view.value.pens.map(
        ({ address }) =>
          html`<option value=${address} .selected=${address === selectedPen.value?.address}>${address}</option>`,
      )}
    </select></label>`
}
