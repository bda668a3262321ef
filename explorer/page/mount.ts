import { effect } from '@preact/signals-core'
import { render } from 'lit-html'

/** Keeps an element showing a template: rendered again when a signal that the template reads has changed. */
export function mount(host: HTMLElement, template: () => unknown): void {
  let latest: unknown
  let isWaiting = false
  effect(() => {
    latest = template()
    if (isWaiting) return
    isWaiting = true
    queueMicrotask(() => {
      isWaiting = false
      render(latest, host)
    })
  })
}
