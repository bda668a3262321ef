import { html, nothing } from 'lit-html'
import { addPens } from '../state/store.ts'
import { calculator } from './calculator.ts'
import {
  type FinderMode,
  find,
  findError,
  finderIsOpen,
  finderMode,
  found,
  isEmpty,
  isFinding,
  nextPage,
  query,
  typeQuery,
} from './finder-state.ts'
import { foundRow, moveInList } from './found-list.ts'
import { closeIcon, searchIcon } from './icons.ts'
import { tree } from './tree.ts'

const MODES: readonly (readonly [FinderMode, string])[] = [
  ['search', 'Search'],
  ['tree', 'Tree'],
  ['calculate', 'Calculate'],
]

/** The left column: where pens come from. */
export function finder() {
  const mode = finderMode.value
  return html`
    <div class="tabs" role="tablist" aria-label="Find tags" @keydown=${moveTab}>
      ${MODES.map(
        ([name, label]) => html`<button role="tab" id=${`find-${name}`} aria-selected=${mode === name}
          tabindex=${mode === name ? 0 : -1} aria-controls="find-panel"
          @click=${() => (finderMode.value = name)}>${label}</button>`,
      )}
      <button class="icon-button only-narrow" aria-label="Close" tabindex="0"
        @click=${() => (finderIsOpen.value = false)}>${closeIcon}</button>
    </div>
    <div class="find-panel" id="find-panel" role="tabpanel" aria-labelledby=${`find-${mode}`}>
      ${mode === 'search' ? search() : mode === 'tree' ? tree() : calculator()}
    </div>`
}

/** Arrow keys go from tab to tab, as in every list of tabs. */
export function moveTab(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]')]
  const at = tabs.indexOf(document.activeElement as HTMLElement)
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
  if (at < 0 || by === undefined) return
  event.preventDefault()
  const next = tabs[(at + by + tabs.length) % tabs.length]!
  next.click()
  next.focus()
}

function search() {
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') {
      event.preventDefault()
      document.querySelector<HTMLElement>('#found button')?.focus()
    } else if (event.key === 'Enter' && found.value[0] !== undefined)
      addPens([found.value[0].qualifiedTagName])
  }
  return html`
    <div class="search">
      ${searchIcon}
      <input id="search" type="search" placeholder="Part of a name or description" aria-label="Search tags"
        aria-describedby="find-note" .value=${query.value} autocomplete="off" spellcheck="false"
        @input=${(event: Event) => typeQuery((event.target as HTMLInputElement).value)} @keydown=${keys}>
    </div>
    <p class="note" id="find-note" role="status">${noteText()}</p>
    <ul class="found" id="found" data-busy=${isFinding.value} @keydown=${moveInList}>
      ${found.value.map(foundRow)}
      ${
        nextPage.value === ''
          ? nothing
          : html`<li><button class="more" @click=${() => find(query.value, nextPage.value)}>More</button></li>`
      }
    </ul>`
}

function noteText() {
  if (findError.value !== '') return html`<span class="error">${findError.value}</span>`
  if (isEmpty.value) {
    return query.value === '' ? 'No historian of this key has tags.' : `No tag has “${query.value}” in it.`
  }
  return nothing
}
