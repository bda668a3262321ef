import { html, nothing } from 'lit-html'
import { serviceNow } from '../api/client.ts'
import { unitOf } from '../chart/layout.ts'
import { reachMs } from '../chart/signals.ts'
import { valueText } from '../chart/value-ticks.ts'
import { loaders } from '../curves/loaders.ts'
import type { PenLoader } from '../curves/pen-loader.ts'
import { type Reading, readingAt } from '../curves/series.ts'
import {
  adjust,
  changePen,
  cursor,
  movePen,
  removePen,
  selectedPen,
  singleOut,
  view,
} from '../state/store.ts'
import { PALETTE_SIZE, type Pen } from '../state/view.ts'
import { timeText } from '../time/zone.ts'
import { closeIcon, downIcon, eyeIcon, hiddenIcon, settingsIcon, soloIcon, upIcon } from './icons.ts'
import { editedPen, penSettings } from './pen-settings.ts'

/** The pens with their values at the cursor, or their newest ones. */
export function pens() {
  const all = view.value.pens
  if (all.length === 0) {
    return html`<p class="empty">Find a tag on the left, and choose it: its trend appears here.
      <span class="keys">Press <kbd>/</kbd> to search and <kbd>?</kbd> for all keys.</span></p>`
  }
  return html`<table class="pens">
    <thead><tr>
      <th scope="col"><span class="hidden">Colour</span></th>
      <th scope="col">Tag</th>
      <th scope="col" class="number">${cursor.value === null ? 'Now' : 'At the cursor'}</th>
      <th scope="col">Unit</th>
      <th scope="col">Time of the point</th>
      <th scope="col" class="about">Description</th>
      <th scope="col"><span class="hidden">Actions</span></th>
    </tr></thead>
    <tbody>${all.map(row)}</tbody>
  </table>`
}

function row(pen: Pen) {
  const loader = loaders.value.get(pen.address)
  const selected = selectedPen.value?.address === pen.address && view.value.selected !== ''
  const error = loader?.error.value ?? null
  const choose = () => adjust({ selected: selected ? '' : pen.address })
  return html`<tr data-hidden=${pen.hidden} data-selected=${selected} data-busy=${loader?.isLoading.value ?? false}>
      <td><button class="swatch" .style=${`--pen: var(--pen-${pen.color})`} aria-label=${`Colour of ${pen.address}`}
        title="Next colour (C)" @click=${() => recolour(pen)}></button></td>
      <th scope="row"><button class="pen-name" @click=${choose} aria-pressed=${selected} title=${pen.address}><bdi>${pen.address}</bdi></button></th>
      ${loader === undefined ? html`<td colspan="3"></td>` : reading(loader)}
      <td class="about" title=${loader?.metadata.value?.description ?? ''}><bdi>${loader?.metadata.value?.description ?? ''}</bdi>${sampleNote(loader)}</td>
      <td class="actions">${actions(pen)}</td>
    </tr>
    ${error === null ? nothing : html`<tr class="problem"><td></td><td colspan="6"><p class="error" role="alert">${error.message}</p></td></tr>`}
    ${editedPen.value === pen.address ? html`<tr class="settings"><td></td><td colspan="6">${penSettings(pen)}</td></tr>` : nothing}`
}

/** Value, unit and time: of the point at the cursor, or of the newest one. */
function reading(loader: PenLoader) {
  const at = cursor.value
  const unit = unitOf(loader)
  const current = loader.current.value
  if (at === null || at > serviceNow()) {
    return cells(current?.value ?? null, unit, current?.at ?? null, current?.isGood ?? true, loader)
  }
  const found = readingAt(loader.series.value, at, loader.stepped.value, reachMs())
  const isGood = found === null || found.value !== null
  return cells(found?.value ?? null, unit, found?.at ?? null, isGood, loader, found?.kind)
}

function cells(
  value: number | null,
  unit: string,
  at: number | null,
  isGood: boolean,
  loader: PenLoader,
  kind: Reading['kind'] = 'point',
) {
  const time =
    at === null
      ? '–'
      : kind === 'point'
        ? timeText(at, view.value.zone)
        : kind === 'line'
          ? 'on the line'
          : 'held from earlier'
  const name = value === null ? undefined : loader.metadata.value?.states?.[String(value)]
  return html`<td class="number value">${isGood ? (name ?? valueText(value)) : html`<span class="bad">BAD</span>`}</td>
    <td class="unit"><bdi>${unit}</bdi></td>
    <td class="time">${time}</td>`
}

/** Says so where what is drawn is not all there is. */
function sampleNote(loader: PenLoader | undefined) {
  if (loader?.series.value.sampled !== 'interpolated') return nothing
  return html`<span class="chip" title="All points of this calculation would cost more than the service allows: short peaks may be missing. Zoom in for all.">interpolated</span>`
}

function actions(pen: Pen) {
  const { address, hidden } = pen
  const button = (label: string, icon: unknown, act: () => void, pressed?: boolean) => html`<button
    class="icon-button" aria-label=${`${label} ${address}`} title=${label} aria-pressed=${pressed ?? nothing} @click=${act}>${icon}</button>`
  return html`
    ${button(hidden ? 'Show' : 'Hide', hidden ? hiddenIcon : eyeIcon, () => changePen(address, { hidden: !hidden }))}
    ${button('Single out', soloIcon, () => singleOut(address))}
    ${button('Scale and limits of', settingsIcon, () => (editedPen.value = editedPen.value === address ? '' : address), editedPen.value === address)}
    ${button('Move up', upIcon, () => movePen(address, -1))}
    ${button('Move down', downIcon, () => movePen(address, 1))}
    ${button('Remove', closeIcon, () => removePen(address))}`
}

export function recolour(pen: Pen): void {
  changePen(pen.address, { color: (pen.color + 1) % PALETTE_SIZE })
}
