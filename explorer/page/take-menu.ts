import { html } from 'lit-html'
import {
  copyAddress,
  copyCurl,
  copyJavascript,
  copyPython,
  copyTable,
  takePng,
  takeRawCsv,
  takeSeenCsv,
} from '../take/take.ts'

/** What can be taken out of the page: files and copies. */
export function takeMenu(canvas: HTMLCanvasElement) {
  const entry = (label: string, act: () => unknown) => html`<button popovertarget="take-menu"
    popovertargetaction="hide" @click=${act}>${label}</button>`
  return html`
    <fieldset><legend>Save</legend><div class="list">
      ${entry('CSV of what is drawn', takeSeenCsv)}
      ${entry('CSV of all raw points', takeRawCsv)}
      ${entry('PNG of the chart', () => takePng(canvas))}
    </div></fieldset>
    <fieldset><legend>Copy</legend><div class="list">
      ${entry('Address of this view', copyAddress)}
      ${entry('Values as a table', copyTable)}
      ${entry('Call for curl', copyCurl)}
      ${entry('Call in Python', copyPython)}
      ${entry('Call in JavaScript', copyJavascript)}
    </div></fieldset>
    <p class="quiet">Calls take the key from the variable <code>TIDEMARK_KEY</code>.</p>`
}
