import { signal } from '@preact/signals-core'
import { html } from 'lit-html'
import { layout } from '../chart/signals.ts'
import { changePen } from '../state/store.ts'
import type { Limit, Pen } from '../state/view.ts'

/** Address of the pen whose scale and limits are being changed; empty for none. */
export const editedPen = signal('')

/** Ends of the pen's own scale, and its limits: numbers, or tags. */
export function penSettings(pen: Pen) {
  const limitOf = (side: Limit['side']) =>
    String(pen.limits.find((limit) => limit.side === side)?.value ?? '')
  const setEnd = (end: 'low' | 'high') => (event: Event) =>
    changePen(pen.address, { [end]: numberOf((event.target as HTMLInputElement).value) })
  const setLimit = (side: Limit['side']) => (event: Event) => {
    const written = (event.target as HTMLInputElement).value.trim()
    const others = pen.limits.filter((limit) => limit.side !== side)
    changePen(pen.address, {
      limits: written === '' ? others : [...others, { side, value: numberOf(written) ?? written }],
    })
  }
  const field = (label: string, value: string, change: (event: Event) => void, wide = false) => html`<label
    class=${wide ? 'wide' : ''}>${label}<input .value=${value} @change=${change} spellcheck="false" autocomplete="off"></label>`
  const isLocked = pen.low !== null && pen.high !== null
  return html`<div class="pen-settings" role="group" aria-label=${`Scale and limits of ${pen.address}`}>
    ${field('Scale from', pen.low === null ? '' : String(pen.low), setEnd('low'))}
    ${field('to', pen.high === null ? '' : String(pen.high), setEnd('high'))}
    <label class="check"><input type="checkbox" .checked=${isLocked} @change=${() => toggleLock(pen)}>Locked</label>
    ${field('Low limit', limitOf('low'), setLimit('low'), true)}
    ${field('High limit', limitOf('high'), setLimit('high'), true)}
    <span class="quiet">A limit is a number, a tag or a calculation.</span>
  </div>`
}

/** Keeps the scale as it is drawn now, or lets it follow the data again. */
export function toggleLock(pen: Pen): void {
  if (pen.low !== null || pen.high !== null) {
    changePen(pen.address, { low: null, high: null })
    return
  }
  for (const { groups } of layout.peek()?.lanes ?? []) {
    for (const { curves, scale } of groups) {
      if (curves.some((curve) => curve.pen.address === pen.address)) {
        changePen(pen.address, { low: scale.low, high: scale.high })
        return
      }
    }
  }
}

function numberOf(text: string): number | null {
  const trimmed = text.trim()
  const value = Number(trimmed)
  return trimmed === '' || !Number.isFinite(value) ? null : value
}
