import { effect, untracked } from '@preact/signals-core'
import { key, rememberedKey, setKey } from './api/client.ts'
import { Chart } from './chart/chart.ts'
import { startTheme } from './chart/theme.ts'
import { startLoaders } from './curves/loaders.ts'
import { bar, displayMenu } from './page/bar.ts'
import { finder } from './page/finder.ts'
import { find, finderIsOpen } from './page/finder-state.ts'
import { help } from './page/help.ts'
import { keyForm, takeKeyFromAddress } from './page/key-form.ts'
import { mount } from './page/mount.ts'
import { panel } from './page/panel.ts'
import { addShortcuts } from './page/shortcuts.ts'
import { startTables } from './page/table-data.ts'
import { takeMenu } from './page/take-menu.ts'
import { clearTree } from './page/tree.ts'
import { notice, startHistory } from './state/store.ts'

const app = document.querySelector<HTMLElement>('#app')!
app.replaceChildren()

/** An element of the page's frame; what is in it is rendered by a template of its own. */
function region(tag: string, attributes: Readonly<Record<string, string>>, parent: HTMLElement): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  parent.append(element)
  return element
}

const gate = region('div', { id: 'gate' }, app)
const page = region('div', { id: 'page', hidden: '' }, app)
const header = region('header', { class: 'bar' }, page)
const aside = region('aside', { class: 'finder', 'aria-label': 'Tags' }, page)
const main = region('main', { class: 'main' }, page)
const chart = region(
  'div',
  {
    id: 'chart',
    class: 'chart',
    tabindex: '0',
    role: 'application',
    'aria-label':
      'Trend. Arrow keys pan and zoom, comma and full stop move the cursor, question mark shows all keys.',
  },
  main,
)
const tables = region('section', { class: 'panel', 'aria-label': 'Pens and tables' }, main)
const display = region(
  'div',
  { id: 'display-menu', class: 'menu', popover: '', role: 'dialog', 'aria-label': 'Display' },
  page,
)
const take = region(
  'div',
  { id: 'take-menu', class: 'menu', popover: '', role: 'dialog', 'aria-label': 'Take away' },
  page,
)
const overview = region(
  'div',
  { id: 'help', class: 'overview', popover: '', role: 'dialog', 'aria-label': 'Keys and gestures' },
  page,
)
const status = region('p', { class: 'notice', role: 'status' }, page)

startTheme()
const brought = takeKeyFromAddress()
setKey(brought ?? rememberedKey())
addEventListener('hashchange', () => {
  const pasted = takeKeyFromAddress()
  if (pasted !== null) setKey(pasted)
})

mount(gate, () => (key.value === '' ? keyForm() : ''))

let hasStarted = false
effect(() => {
  const hasKey = key.value !== ''
  page.hidden = !hasKey
  if (hasKey) untracked(start)
})

/** What a key opens: once for the page, and again for another key. */
function start(): void {
  clearTree()
  void find('')
  if (hasStarted) return
  hasStarted = true
  startHistory()
  startLoaders()
  startTables()
  mount(header, bar)
  mount(aside, finder)
  mount(tables, panel)
  mount(display, displayMenu)
  mount(overview, help)
  const { canvas } = new Chart(chart)
  mount(take, () => takeMenu(canvas))
  addShortcuts()
  effect(() => {
    aside.dataset.open = String(finderIsOpen.value)
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  effect(() => {
    status.textContent = notice.value
    clearTimeout(timer)
    if (notice.value !== '') timer = setTimeout(() => (notice.value = ''), 4_000)
  })
}
