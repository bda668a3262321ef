import { signal } from '@preact/signals-core'
import { PALETTE_SIZE } from '../state/view.ts'

/** Colours of the canvas, taken from the style sheet. */
export interface Theme {
  readonly ink: string
  readonly muted: string
  readonly faint: string
  readonly grid: string
  readonly surface: string
  readonly accent: string
  readonly bad: string
  readonly pens: readonly string[]
  readonly font: string
}

export type ThemeChoice = 'auto' | 'light' | 'dark'

const STORED = 'tidemark.theme'

/** Counts changes of the colours, for what draws with them. */
export const themeVersion = signal(0)
export const themeChoice = signal<ThemeChoice>('auto')

export function startTheme(): void {
  try {
    const stored = localStorage.getItem(STORED)
    if (stored === 'light' || stored === 'dark') applyTheme(stored)
  } catch {
    // Without storage the system's choice holds.
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => themeVersion.value++)
}

export function applyTheme(choice: ThemeChoice): void {
  themeChoice.value = choice
  if (choice === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = choice
  try {
    if (choice === 'auto') localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, choice)
  } catch {
    // It holds until the page is left.
  }
  themeVersion.value++
}

let read: { readonly version: number; readonly theme: Theme } | null = null

/** The colours as they are now; read anew when they have changed. */
export function readTheme(): Theme {
  const version = themeVersion.peek()
  if (read?.version !== version) read = { version, theme: takeTheme() }
  return read.theme
}

/** The style sheet has each colour for light and for dark: only an element that has it knows which. */
function takeTheme(): Theme {
  const probe = document.createElement('span')
  probe.hidden = true
  document.body.append(probe)
  const of = (name: string) => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const theme: Theme = {
    ink: of('ink'),
    muted: of('muted'),
    faint: of('faint'),
    grid: of('grid'),
    surface: of('surface'),
    accent: of('accent'),
    bad: of('bad'),
    pens: Array.from({ length: PALETTE_SIZE }, (_, index) => of(`pen-${index}`)),
    font: getComputedStyle(document.body).fontFamily,
  }
  probe.remove()
  return theme
}
