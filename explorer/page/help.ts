import { html } from 'lit-html'

const GROUPS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['/', 'Search tags'],
      ['g', 'Go to the chart'],
      ['?', 'This overview'],
      ['Backspace', 'One step back'],
      ['l', 'Follow now, or stop'],
      ['[  ]', 'One window earlier, later'],
      ['o', 'Lanes, or over each other'],
      ['1 … 9', 'Select a pen'],
      ['h  s  c', 'Hide, single out, recolour the selected pen'],
      ['k', 'Lock the scale of the selected pen'],
    ],
  ],
  [
    'In the chart',
    [
      ['← →', 'Pan; with Shift by a whole window'],
      ['↑ ↓  + −', 'Zoom'],
      [', .', 'Cursor; with Shift in long steps'],
      ['n  p', 'Next, previous point of the selected pen'],
      ['N  P', 'Next, previous change'],
      ['a  b', 'Put cursor A, B here'],
      ['Esc', 'Take the cursors away'],
    ],
  ],
  [
    'Pointer and touch',
    [
      ['Drag', 'Pan; on an axis: move its scale'],
      ['Shift + drag', 'Zoom to a span; the right button does it too'],
      ['Wheel, pinch', 'Zoom at the pointer'],
      ['Double click', 'One step back'],
      ['Tap', 'Cursor'],
    ],
  ],
]

export function help() {
  return html`
    <h2>Keys and gestures</h2>
    <div class="help-groups">${GROUPS.map(
      ([title, entries]) =>
        html`<section><h3>${title}</h3><dl>${entries.map(
          ([keys, what]) =>
            html`<div><dt>${keys.split('  ').map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${what}</dd></div>`,
        )}</dl></section>`,
    )}</div>
    <button class="primary" autofocus popovertarget="help" popovertargetaction="hide">Close</button>`
}
