import { html, nothing } from 'lit-html'
import type { Aggregates, StateTimes, Statistics } from '../api/tables.ts'
import { colorOfState } from '../chart/draw-states.ts'
import { statesOf, unitOf } from '../chart/layout.ts'
import { valueText } from '../chart/value-ticks.ts'
import { loaders } from '../curves/loaders.ts'
import type { PenLoader } from '../curves/pen-loader.ts'
import { signalAt } from '../curves/series.ts'
import { view } from '../state/store.ts'
import { durationText, timeText } from '../time/zone.ts'
import { statisticsData } from './table-data.ts'

/** What is seen in figures, or what lies between the two cursors. */
export function statistics() {
  const data = statisticsData.value.value
  const { a, b, zone } = view.value
  const isBetween = a !== null && b !== null
  const caption = isBetween
    ? html`Between the cursors: ${durationText(b - a)}, ${timeText(Math.min(a, b), zone)} – ${timeText(Math.max(a, b), zone)}`
    : html`Of what is seen. Put cursors with <kbd>A</kbd> and <kbd>B</kbd> in the chart to measure between them.`
  return html`
    ${statisticsData.error.value === '' ? nothing : html`<p class="error table-note" role="alert">${statisticsData.error.value}</p>`}
    <table class="statistics" data-busy=${statisticsData.isLoading.value}>
      <caption>${caption}</caption>
      <thead><tr>
        <th scope="col">Tag</th>
        ${isBetween ? html`<th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">B − A</th>` : nothing}
        <th scope="col" class="number">Least</th><th scope="col">at</th>
        <th scope="col" class="number">Greatest</th><th scope="col">at</th>
        <th scope="col" class="number" title="Of the signal, weighted by time">Mean</th>
        <th scope="col" class="number">Deviation</th>
        <th scope="col">Unit</th>
        <th scope="col" class="number">Points</th>
        <th scope="col" class="number" title="Share of the time in which the signal has a value">Coverage</th>
        <th scope="col" class="number" title="Share of the points that are good">Good</th>
      </tr></thead>
      <tbody>${data?.rows.map((row) => [statisticsRow(row), statesRow(row, isBetween ? 13 : 10)])}</tbody>
    </table>`
}

function statisticsRow({ address, aggregates, error }: Statistics) {
  const loader = loaders.value.get(address)
  const color = view.value.pens.find((pen) => pen.address === address)?.color ?? 0
  const { a, b } = view.value
  const values =
    a === null || b === null || loader === undefined
      ? null
      : [a, b].map((at) => signalAt(loader.series.value, at, loader.stepped.value))
  const cell = (name: string) => html`<td class="number">${valueText(numberOf(aggregates, name))}</td>`
  return html`<tr>
    <th scope="row"><span class="pen-dot" .style=${`--pen: var(--pen-${color})`}></span><bdi>${address}</bdi>${
      error === '' ? nothing : html`<span class="error"> ${error}</span>`
    }</th>
    ${
      values === null
        ? nothing
        : html`<td class="number">${valueText(values[0])}</td><td class="number">${valueText(values[1])}</td>
          <td class="number">${values[0] === null || values[1] === null ? '–' : valueText(values[1]! - values[0]!)}</td>`
    }
    ${cell('min')}<td class="time">${timeOf(aggregates, 'minTime')}</td>
    ${cell('max')}<td class="time">${timeOf(aggregates, 'maxTime')}</td>
    ${cell('timeAvg')}${cell('stdDev')}
    <td class="unit"><bdi>${loader === undefined ? '' : unitOf(loader)}</bdi></td>
    <td class="number">${numberOf(aggregates, 'count')?.toLocaleString('en') ?? '–'}</td>
    <td class="number">${percentText(numberOf(aggregates, 'coverage'))}</td>
    <td class="number">${percentText(numberOf(aggregates, 'percentGood'))}</td>
  </tr>`
}

/**
 * How long a tag was in each of its states, in the colours of its bar; under so many columns beside that of the tag.
 */
function statesRow({ address, states }: Statistics, columns: number) {
  const loader = loaders.value.get(address)
  if (states === null || loader === undefined) return nothing
  const total = Object.values(states).reduce((sum, { seconds }) => sum + seconds, 0)
  return html`<tr class="states"><td></td><td colspan=${columns}>
    <ul>${Object.entries(states).map((entry) => stateItem(entry, total, loader))}</ul></td></tr>`
}

function stateItem(
  [name, { seconds, visits }]: [string, StateTimes[string]],
  total: number,
  loader: PenLoader,
) {
  const names = statesOf(loader) ?? new Map<number, string>()
  const value = [...names.keys()].find((number) => names.get(number) === name)
  const color = value === undefined ? null : colorOfState(names, value)
  const share = total === 0 ? '' : `, ${percentText((100 * seconds) / total)}`
  return html`<li><span class="pen-dot" .style=${`--pen: var(--${color === null ? 'muted' : `pen-${color}`})`}></span><bdi>${name}</bdi>
    ${durationText(seconds * 1000)}${share}, ${visits} ${visits === 1 ? 'visit' : 'visits'}</li>`
}

function timeOf(aggregates: Aggregates | null, name: string): string {
  const at = aggregates?.[name]
  return typeof at === 'string' ? timeText(Date.parse(at), view.value.zone) : ''
}

function numberOf(aggregates: Aggregates | null, name: string): number | null {
  const value = aggregates?.[name]
  return typeof value === 'number' ? value : null
}

/** A share just below all is not shown as all. */
function percentText(percent: number | null): string {
  return percent === null ? '–' : `${Math.floor(percent * 100) / 100} %`
}
