import { svg } from 'lit-html'

const frame = (path: unknown) =>
  svg`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">${path}</svg>`

const line = (d: string) => frame(svg`<path d=${d}></path>`)

export const earlierIcon = line('M10 3 5 8l5 5')
export const laterIcon = line('m6 3 5 5-5 5')
export const searchIcon = line('M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.5 10.5 14 14')
export const closeIcon = line('m4 4 8 8M12 4l-8 8')
export const eyeIcon = line(
  'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z',
)
export const hiddenIcon = line(
  'M2 2l12 12M6.2 3.8A6 6 0 0 1 8 3.5c4 0 6.5 4.5 6.5 4.5a12 12 0 0 1-2 2.5M4 5a12 12 0 0 0-2.5 3S4 12.5 8 12.5a6 6 0 0 0 2.5-.6',
)
export const soloIcon = line('M8 2v3M8 11v3M2 8h3M11 8h3M8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3Z')
export const upIcon = line('m4 10 4-4 4 4')
export const downIcon = line('m4 6 4 4 4-4')
export const menuIcon = line('M2.5 4h11M2.5 8h11M2.5 12h11')
export const displayIcon = line('M2 4h6M12 4h2M2 12h2M8 12h6M10 2.5v3M6 10.5v3')
export const takeIcon = line('M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11')
export const helpIcon = line('M6 6a2 2 0 1 1 2.8 1.8c-.5.3-.8.6-.8 1.4M8 11.8v.2')
export const settingsIcon = line('M3 3.5h10M3 8h10M3 12.5h10M6 2v3M10.5 6.5v3M5 11v3')
