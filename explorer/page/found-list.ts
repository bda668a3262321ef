import { html, nothing } from 'lit-html'
import type { FoundTag } from '../api/tags.ts'
import { addPens, removePen, view } from '../state/store.ts'

/** Up and down go through a list of buttons; up from the first one goes back to the field. */
export function moveInList(event: KeyboardEvent): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (by === undefined) return
  event.preventDefault()
  const list = event.currentTarget as HTMLElement
  const buttons = [...list.querySelectorAll<HTMLElement>('button')]
  const at = buttons.indexOf(document.activeElement as HTMLElement) + by
  if (at < 0) list.parentElement?.querySelector<HTMLElement>('input')?.focus()
  else buttons[Math.min(at, buttons.length - 1)]?.focus()
}

/** A tag as a button that makes a pen of it, or takes the pen away. */
export function foundRow(tag: FoundTag) {
  const address = tag.qualifiedTagName
  const isPen = view.value.pens.some((pen) => pen.address === address)
  return html`<li><button class="tag" aria-pressed=${isPen} title=${address}
      @click=${() => (isPen ? removePen(address) : addPens([address]))}>
    <span class="name"><bdi>${tag.tagName}</bdi>${tag.units ? html`<span class="unit"><bdi>${tag.units}</bdi></span>` : nothing}</span>
    <span class="about"><bdi class="home">${tag.historianName}</bdi>${
      tag.description ? html`<bdi>${tag.description}</bdi>` : nothing
    }</span>
  </button></li>`
}
