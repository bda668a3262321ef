import { html } from 'lit-html'
import { setKey } from '../api/client.ts'
import { pan } from '../chart/keys.ts'
import { applyTheme, themeChoice } from '../chart/theme.ts'
import { isLoading } from '../curves/loaders.ts'
import { isLive, rangeError, rangeErrorEnd, setRange, span, step, toggleLive, view } from '../state/store.ts'
import type { Scales } from '../state/view.ts'
import { durationText, isZone } from '../time/zone.ts'
import { finderIsOpen } from './finder-state.ts'
import { displayIcon, earlierIcon, helpIcon, laterIcon, menuIcon, takeIcon } from './icons.ts'
import { displayedEnds } from './range-text.ts'

const QUICK: readonly (readonly [string, string, string])[] = [
  ['1 h', '*-1h', 'last hour'],
  ['8 h', '*-8h', 'last 8 hours'],
  ['24 h', '*-24h', 'last 24 hours'],
  ['7 d', '*-7d', 'last 7 days'],
  ['30 d', '*-30d', 'last 30 days'],
  ['1 y', '*-1y', 'last year'],
]

export function bar() {
  return html`
    <button class="icon-button only-narrow" aria-label="Tags" aria-expanded=${finderIsOpen.value}
      @click=${() => (finderIsOpen.value = !finderIsOpen.value)}>${menuIcon}</button>
    <h1 class="brand">Tidemark</h1>
    ${rangeForm()}
    <div class="quick" role="group" aria-label="Quick ranges">
      ${QUICK.map(
        ([label, from, title]) => html`<button class="quiet" title=${title}
          aria-pressed=${view.value.from === from && view.value.to === '*'}
          @click=${() => setRange(from, '*')}>${label}</button>`,
      )}
      <button class="live" aria-pressed=${isLive.value} @click=${toggleLive}
        title="Follow now (L)"><span class="dot"></span>Live</button>
    </div>
    <span class="spacer"></span>
    <span class="loading" data-busy=${isLoading.value} aria-hidden="true"></span>
    <button class="tool" popovertarget="display-menu" aria-label="Display">${displayIcon}<span>Display</span></button>
    <button class="tool" popovertarget="take-menu" aria-label="Take away">${takeIcon}<span>Take away</span></button>
    <button class="icon-button" popovertarget="help" aria-label="Keys and gestures" title="Keys and gestures (?)">${helpIcon}</button>`
}

function rangeForm() {
  const ends = displayedEnds()
  const apply = (event: Event) => {
    event.preventDefault()
    const { from, to } = (event.target as HTMLFormElement).elements as unknown as Record<
      string,
      HTMLInputElement
    >
    void setRange(from!.value, to!.value)
  }
  const field = (
    name: 'from' | 'to',
    label: string,
  ) => html`<input name=${name} aria-label=${label} .value=${ends[name]}
    autocomplete="off" spellcheck="false" aria-describedby="range-note"
    aria-invalid=${rangeError.value !== '' && rangeErrorEnd.value === name}
    title="A time such as *-8h, yesterday, now-1d/d, 2026-01-15 06:00">`
  return html`<form class="range" @submit=${apply} aria-label="Range">
    <button type="button" class="icon-button" aria-label="One window earlier" title="One window earlier ([)"
      @click=${() => pan(-1)}>${earlierIcon}</button>
    ${field('from', 'From')}
    <span class="dash" aria-hidden="true">–</span>
    ${field('to', 'To')}
    <button type="button" class="icon-button" aria-label="One window later" title="One window later (])"
      @click=${() => pan(1)}>${laterIcon}</button>
    <span class="length">${durationText(span.value.to - span.value.from)}</span>
    <button type="submit" class="hidden">Show</button>
    <span class="error range-note" id="range-note" role="alert">${rangeError.value}</span>
  </form>`
}

export function displayMenu() {
  const { lanes, scales, earlierDays, zone } = view.value
  const choice = <T>(name: string, label: string, value: T, now: T, pick: (value: T) => void) => html`<label>
    <input type="radio" name=${name} .checked=${value === now} @change=${() => pick(value)}>${label}</label>`
  const pickScales = (value: Scales) => step({ scales: value })
  const pickZone = (event: Event) => {
    const field = event.target as HTMLInputElement
    const wanted = field.value.trim()
    if (isZone(wanted)) step({ zone: wanted })
    else field.value = zone
  }
  return html`
    <fieldset><legend>Curves</legend>
      ${choice('lanes', 'Over each other', false, lanes, (value) => step({ lanes: value }))}
      ${choice('lanes', 'In lanes', true, lanes, (value) => step({ lanes: value }))}
    </fieldset>
    <fieldset><legend>Scales</legend>
      ${choice('scales', 'One for each unit', 'unit' as Scales, scales, pickScales)}
      ${choice('scales', 'One for each pen', 'pen' as Scales, scales, pickScales)}
      ${choice('scales', 'One for all', 'shared' as Scales, scales, pickScales)}
    </fieldset>
    <fieldset><legend>Earlier period below</legend>
      ${(
        [
          [0, 'None'],
          [1, 'One day'],
          [7, 'One week'],
          [28, 'Four weeks'],
          [364, '52 weeks'],
        ] as const
      ).map(([days, label]) =>
        choice('earlier', label, days, earlierDays as typeof days, (value) => step({ earlierDays: value })),
      )}
    </fieldset>
    <fieldset><legend><label for="zone">Time zone</label></legend>
      <input id="zone" list="zones" .value=${zone} @change=${pickZone} autocomplete="off" spellcheck="false">
      <datalist id="zones">${zoneNames().map((name) => html`<option value=${name}></option>`)}</datalist>
    </fieldset>
    <fieldset><legend>Colours</legend>
      ${choice('theme', 'As the system', 'auto' as const, themeChoice.value, applyTheme)}
      ${choice('theme', 'Light', 'light' as const, themeChoice.value, applyTheme)}
      ${choice('theme', 'Dark', 'dark' as const, themeChoice.value, applyTheme)}
    </fieldset>
    <p><a href="docs" target="_blank" rel="noreferrer">Reference of the interface</a></p>
    <button class="quiet" @click=${() => setKey('')}>Forget the key</button>`
}

let zones: readonly string[] | null = null

function zoneNames(): readonly string[] {
  zones ??= ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')]
  return zones
}
