import { html } from 'lit-html'
import { adjust, view } from '../state/store.ts'
import type { Panel } from '../state/view.ts'
import { moveTab } from './finder.ts'
import { intervals } from './intervals.ts'
import { pens } from './pens.ts'
import { points } from './points.ts'
import { statistics } from './statistics.ts'

const TABS: readonly (readonly [Panel, string, () => unknown])[] = [
  ['pens', 'Pens', pens],
  ['statistics', 'Statistics', statistics],
  ['points', 'Points', points],
  ['intervals', 'Intervals and gaps', intervals],
]

/** Below the chart: its pens, and tables of what is seen. */
export function panel() {
  const [open] = TABS.filter(([name]) => name === view.value.panel)
  const [name, , content] = open ?? TABS[0]!
  return html`
    <div class="tabs" role="tablist" aria-label="Tables" @keydown=${moveTab}>
      ${TABS.map(
        ([
          tab,
          label,
        ]) => html`<button role="tab" id=${`tab-${tab}`} aria-selected=${name === tab} aria-controls="tables"
          tabindex=${name === tab ? 0 : -1} @click=${() => adjust({ panel: tab })}>${label}</button>`,
      )}
    </div>
    <div class="tables" id="tables" role="tabpanel" tabindex="0" aria-labelledby=${`tab-${name}`}>${content()}</div>`
}
