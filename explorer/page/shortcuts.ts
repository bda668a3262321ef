import { pan } from '../chart/keys.ts'
import {
  adjust,
  changePen,
  selectedPen,
  singleOut,
  step,
  stepBack,
  toggleLive,
  view,
} from '../state/store.ts'
import type { Pen } from '../state/view.ts'
import { finderIsOpen, finderMode } from './finder-state.ts'
import { toggleLock } from './pen-settings.ts'
import { recolour } from './pens.ts'

/** Keys of the whole page: letters only where nobody is typing. */
export function addShortcuts(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    const action = actionOf(event.key)
    if (action === null) return
    event.preventDefault()
    action()
  })
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input:not([type=radio], [type=checkbox]), textarea, select') !== null
  )
}

function actionOf(key: string): (() => void) | null {
  const pen = selectedPen.peek()
  const withPen = (act: (pen: Pen) => void) => () => {
    if (pen !== null) act(pen)
  }
  switch (key) {
    case '/':
      return openSearch
    case 'g':
      return () => document.querySelector<HTMLElement>('#chart')?.focus()
    case '?':
      return () => document.querySelector<HTMLElement>('#help')?.togglePopover()
    case 'Backspace':
      return stepBack
    case 'l':
    case 'L':
      return toggleLive
    case '[':
      return () => pan(-1)
    case ']':
      return () => pan(1)
    case 'o':
      return () => step({ lanes: !view.peek().lanes })
    case 'h':
      return withPen(({ address, hidden }) => changePen(address, { hidden: !hidden }))
    case 's':
      return withPen(({ address }) => singleOut(address))
    case 'c':
      return withPen(recolour)
    case 'k':
      return withPen(toggleLock)
    default: {
      const chosen = /^[1-9]$/.test(key) ? view.peek().pens[Number(key) - 1] : undefined
      return chosen === undefined ? null : () => adjust({ selected: chosen.address })
    }
  }
}

export function openSearch(): void {
  finderMode.value = 'search'
  finderIsOpen.value = true
  const field = () => document.querySelector<HTMLElement>('#search')
  // At once where it is there, so that fast fingers lose no letter.
  field()?.focus()
  requestAnimationFrame(() => field()?.focus())
}
