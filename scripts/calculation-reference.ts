import {
  type Catalogue,
  catalogue,
  type FunctionEntry,
  type VirtualEntry,
} from '../src/calc/functions/catalogue.ts'
import type { Example, Section } from '../src/calc/functions/define.ts'
import { SECTIONS } from '../src/calc/functions/define.ts'

const TITLES: { readonly [Name in Section]: string } = {
  arithmetic: 'Arithmetic and functions of numbers',
  statistics: 'Statistics across inputs',
  logic: 'Logic',
  conditioning: 'Conditioning and time',
  totals: 'Totals',
  windows: 'Aggregates over windows',
}

const INTRODUCTION = `# Calculations

Generated from src/calc/functions and src/calc/virtual/historians.ts by \`npm run generate\`. How a calculation is written stands in
[calculation-grammar.md](calculation-grammar.md); \`GET /historian/calculations\` gives the same as data, for editors.

A calculation such as \`calc/ADD(local/FLOW, 5)\` is a tag: every request type works on it. It is evaluated when it is read, and
nothing of it is stored. An input is a tag, a number, or another calculation.

## How a calculation is evaluated

- A series is a function of time together with raw points. An elementwise function uses, at each time, the values that its
  inputs have there: on the line between neighbouring points, or held from the point before, as each input is stored.
- Its raw points stand at the union of its inputs' raw timestamps. It is stepped when all inputs that vary are stepped.
- Where an input is null the result is null, unless the function says otherwise. A result that is not finite (division by
  zero, the logarithm of 0) is null with status BAD. A BAD raw point of an input makes the raw result at its timestamp BAD,
  worked out from the value that it has; values between raw points pass BAD points by.
- CURRENT_POINT is worked out from the inputs' current points, with the latest of their timestamps; of totals and window
  aggregates it is the value at \`now\`. Constants have no raw points and no timestamp of their own.
- For one instant (HISTORICAL_POINT, POINT_*, ADJACENT_POINTS) the range of a function that depends on the range is that
  instant alone, and its ends are no raw points.
- For integrals and time-weighted means a calculation goes, between two of its raw points, straight from its value at the
  first to its limit just before the second: a stepped input switches without a ramp. After the last raw point it goes on as it is.
  Where an input ends at the first one, at \`now\` or before a gap, the line begins with what it is just behind that point.
- Equal parts of the calculations of one call are read and evaluated once.
`

/** docs/calculations.md, written from the tables of functions and virtual historians. */
export function calculationReference(from: Catalogue = catalogue()): string {
  const sections = SECTIONS.map((section) => {
    const functions = from.functions.filter((entry) => entry.section === section)
    return functions.length === 0 ? [] : [`## ${TITLES[section]}`, ...functions.map(functionText)]
  })
  const virtual = [
    '## Virtual historians',
    'Their tags are computed from their names; nothing of them is stored, and they cost no points of a historian.',
    ...from.virtualHistorians.map(virtualText),
  ]
  return `${[INTRODUCTION.trimEnd(), contents(from), ...sections.flat(), ...virtual].join('\n\n')}\n`
}

function contents({ functions, virtualHistorians }: Catalogue): string {
  const rows = SECTIONS.flatMap((section) => {
    const names = functions.filter((entry) => entry.section === section).map(({ name }) => link(name))
    return names.length === 0 ? [] : [`| ${TITLES[section]} | ${names.join(' ')} |`]
  })
  const historians = virtualHistorians.map(({ name }) => link(name))
  return [
    '| section | names |',
    '|---|---|',
    ...rows,
    `| Virtual historians | ${historians.join(' ')} |`,
  ].join('\n')
}

function link(name: string): string {
  return `[${name}](#${name.toLowerCase()})`
}

function functionText(entry: FunctionEntry): string {
  const aliases = entry.aliases.map((alias) => `\`${alias}\``)
  const usage = `\`${entry.usage}\`${aliases.length > 0 ? `, also named ${aliases.join(', ')}` : ''}`
  const parameters = entry.parameters.map((parameter) => {
    const { name, kind, takes, optional, repeat, onlyWith } = parameter
    const mayBeLeftOut = onlyWith === undefined ? 'may be left out' : `with ${onlyWith}, and only then`
    const notes = [optional ? mayBeLeftOut : '', repeat ? 'one or more' : ''].filter((note) => note !== '')
    return `| \`${name}\` | ${kind} | ${cell(`${takes}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`)} |`
  })
  return [
    `### ${entry.name}`,
    usage,
    entry.summary,
    ...(entry.details === '' ? [] : [entry.details]),
    ...(parameters.length === 0
      ? []
      : [['| parameter | kind | takes |', '|---|---|---|', ...parameters].join('\n')]),
    [
      `- Nulls: ${entry.nulls}`,
      `- Stepped: ${entry.stepped}`,
      `- Raw points: ${entry.rawTimes}`,
      `- Cost: ${entry.cost}`,
    ].join('\n'),
    examplesText(entry.examples),
  ].join('\n\n')
}

/** With columns for time and zone only where an example has one. */
function examplesText(examples: readonly Example[]): string {
  const hasTimes = examples.some(({ at }) => at !== undefined)
  const hasZones = examples.some(({ zone }) => zone !== undefined)
  const columns = ['example', ...(hasTimes ? ['at'] : []), ...(hasZones ? ['zone'] : []), 'value']
  const rows = examples.map(({ calculation, at, zone, value }) =>
    [
      `\`${calculation}\``,
      ...(hasTimes ? [at ?? 'any time'] : []),
      ...(hasZones ? [zone ?? 'UTC'] : []),
      String(value),
    ].map(cell),
  )
  return [columns, columns.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function virtualText({ name, summary, tags, rawTimes, stepped }: VirtualEntry): string {
  const rows = tags.map(({ name: tag, summary: about, example }) =>
    [`\`${name}/${tag}\``, cell(about), example === undefined ? '' : `\`${name}/${example}\``].join(' | '),
  )
  return [
    `### ${name}`,
    summary,
    ['| tag | value | example |', '|---|---|---|', ...rows.map((row) => `| ${row} |`)].join('\n'),
    [`- Stepped: ${stepped}`, `- Raw points: ${rawTimes}`].join('\n'),
  ].join('\n\n')
}

/** Text that cannot end a cell of a table or open a tag. Code in backquotes shows `<` as it is. */
function cell(text: string): string {
  const escaped = text.replaceAll('|', '\\|')
  return escaped
    .split('`')
    .map((part, i) => (i % 2 === 0 ? part.replaceAll('<', '&lt;') : part))
    .join('`')
}
