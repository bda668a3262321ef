import { html, nothing } from 'lit-html'
import type { Aggregates, Interval } from '../api/tables.ts'
import { valueText } from '../chart/value-ticks.ts'
import { commitSpan, moveSpan, step, view } from '../state/store.ts'
import { durationText, timeText } from '../time/zone.ts'
import { penChoice } from './points.ts'
import { intervalsData, moreIntervals } from './table-data.ts'

const USUAL_GAP = '5m'

/** When a condition held, or when nothing good came. */
export function intervals() {
  const { condition, gaps } = view.value
  const data = intervalsData.value.value
  const rows = data?.intervals ?? []
  const isWished = gaps !== '' || condition !== ''
  return html`
    <form class="toolbar" @submit=${apply}>
      <label class="check"><input type="radio" name="kind" value="when" .checked=${gaps === ''}
        @change=${() => step({ gaps: '' })}>When</label>
      <input name="condition" class="long" .value=${condition} aria-label="Condition: a tag or calculation that is not 0"
        placeholder="demo/P101.RUNNING or THRESHOLD(demo/R201.TEMP, 60, 1, 0)" spellcheck="false" autocomplete="off"
        ?disabled=${gaps !== ''} @change=${(event: Event) => step({ condition: (event.target as HTMLInputElement).value.trim() })}>
      <label class="check"><input type="radio" name="kind" value="gaps" .checked=${gaps !== ''}
        @change=${() => step({ gaps: USUAL_GAP })}>Gaps longer than</label>
      <input name="gaps" class="short" .value=${gaps} aria-label="Least length of a gap" ?disabled=${gaps === ''}
        @change=${(event: Event) => step({ gaps: (event.target as HTMLInputElement).value.trim() || USUAL_GAP })}>
      ${penChoice(gaps === '' ? 'Values of' : 'of')}
    </form>
    ${intervalsData.error.value === '' ? nothing : html`<p class="error table-note" role="alert">${intervalsData.error.value}</p>`}
    ${rows.length === 0 ? emptyNote(isWished) : table(rows, data!.next !== '')}
    ${data?.next ? html`<button class="more" @click=${moreIntervals}>More</button>` : nothing}`
}

function apply(event: Event): void {
  event.preventDefault()
}

function emptyNote(isWished: boolean) {
  if (!isWished)
    return html`<p class="table-note">Stretches in which a tag or calculation is not 0: batches, alarms, run times.</p>`
  if (intervalsData.isLoading.value || intervalsData.error.value !== '') return nothing
  return html`<p class="table-note">None in what is seen.</p>`
}

function table(rows: readonly Interval[], hasMore: boolean) {
  const hasKinds = rows.some(({ kind }) => kind !== undefined)
  return html`<table data-busy=${intervalsData.isLoading.value}>
    <caption>${hasMore ? 'The first ' : ''}${rows.length} in what is seen, ${durationText(rows.reduce((sum, { from, to }) => sum + Date.parse(to) - Date.parse(from), 0))} together</caption>
    <thead><tr>
      <th scope="col">From</th><th scope="col">To</th><th scope="col" class="number">Length</th>
      ${
        hasKinds
          ? html`<th scope="col">Kind</th>`
          : html`<th scope="col" class="number">Least</th><th scope="col" class="number">Mean</th><th scope="col" class="number">Greatest</th>`
      }
      <th scope="col"><span class="hidden">Actions</span></th>
    </tr></thead>
    <tbody>${rows.map((row) => intervalRow(row, hasKinds))}</tbody>
  </table>`
}

function intervalRow({ from, to, openStart, openEnd, kind, aggregates }: Interval, hasKinds: boolean) {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  const values: Aggregates = (Array.isArray(aggregates) ? aggregates[0] : aggregates) ?? {}
  const cell = (name: string) => html`<td class="number">${valueText(values[name] as number | null)}</td>`
  const show = () => {
    const room = Math.max(1_000, (end - start) * 0.15)
    moveSpan(start - room, end + room)
    commitSpan()
  }
  return html`<tr>
    <td class="time">${openStart ? '… ' : ''}${timeText(start, view.value.zone)}</td>
    <td class="time">${timeText(end, view.value.zone)}${openEnd ? ' …' : ''}</td>
    <td class="number">${durationText(end - start)}</td>
    ${hasKinds ? html`<td>${kind === 'bad' ? 'BAD points' : 'no points'}</td>` : html`${cell('min')}${cell('timeAvg')}${cell('max')}`}
    <td><button class="quiet" @click=${show}>Zoom</button></td>
  </tr>`
}
