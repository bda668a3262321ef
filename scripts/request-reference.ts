import { type Detail, listWords, type Takes } from '../src/multi/requests/detail.ts'
import type { RequestType } from '../src/multi/requests/request-type.ts'
import { REQUEST_TYPES } from '../src/multi/requests/table.ts'

/** The request types and their details, as docs/multi.md shows them. */
export function requestReference(): string {
  const types = [...REQUEST_TYPES.values()]
  return `| type | details | result |
|---|---|---|
${types.map(typeRow).join('\n')}

\`?\` marks details that may be left out, with the value that they have then:

| detail | takes | meaning |
|---|---|---|
${detailRows(types).join('\n')}
`
}

function typeRow({ name, details, result }: RequestType): string {
  return `| ${name} | ${details.map(named).join(', ')} | ${result} |`
}

function named({ name, isNeeded, unless, otherwise }: Detail): string {
  const others = unless.length === 0 ? '' : ` (or ${listWords(unless.map((other) => `\`${other}\``))})`
  const value = otherwise === null || otherwise === false ? '' : ` (${otherwise})`
  return `\`${name}\`${isNeeded ? others : `?${value}`}`
}

/** A row for each detail, with the request types where one name has several meanings. */
function detailRows(types: readonly RequestType[]): readonly string[] {
  const all = types.flatMap((type) => type.details.map((detail) => ({ detail, type: type.name })))
  return [...Map.groupBy(all, ({ detail }) => detail.name).values()].flatMap((ofName) => {
    const byMeaning = [...Map.groupBy(ofName, ({ detail }) => detail.meaning).values()]
    return byMeaning.map((same) => {
      const { name, meaning, type } = same[0]!.detail
      const of = byMeaning.length === 1 ? '' : ` of ${same.map((one) => one.type).join(', ')}`
      return `| \`${name}\`${of} | ${taken(type.takes)} | ${meaning} |`
    })
  })
}

function taken(takes: Takes): string {
  switch (takes.kind) {
    case 'time':
      return '[time](timestamps.md)'
    case 'flag':
      return '`true` or `false`'
    case 'text':
      return 'text'
    case 'count':
      return takes.most === undefined
        ? 'whole number from 1 on'
        : `whole number from 1 to ${takes.most.toLocaleString('en')}`
    case 'word':
      return listWords(takes.words.map((word) => `\`${word}\``))
    case 'words':
      return 'array of [names](#aggregates)'
    case 'numbers':
      return `array of 1 to ${takes.most.toLocaleString('en')} numbers`
    case 'duration':
      return takes.format.slice(0, 1).toLowerCase() + takes.format.slice(1, -1)
    case 'object':
      return `object with ${takes.details.map((one) => `\`${one.name}\` (${taken(one.type.takes)})`).join(' and ')}`
  }
}
