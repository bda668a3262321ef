import { catalogue } from '../../../calc/functions/catalogue.ts'
import { SECTIONS } from '../../../calc/functions/define.ts'
import { COMMON } from '../../openapi/schemas.ts'
import { listOf, type Operation, object, type Schema } from '../../openapi/types.ts'

const text: Schema = { type: 'string' }

function sentence(description: string): Schema {
  return { type: 'string', description }
}

const KINDS = ['series', 'number', 'duration', 'anchor', 'window', 'window-anchor', 'offset', 'time', 'word']

const parameter = object(
  {
    name: text,
    kind: { type: 'string', enum: KINDS },
    takes: sentence('What stands there, in words.'),
    optional: { type: 'boolean' },
    repeat: { type: 'boolean', description: 'Takes one or more arguments; only the last parameter.' },
    words: listOf(text, 'What is allowed where the kind is `word`.'),
    onlyWith: sentence(
      'Needed with this word of a parameter before it, and not there without it; where this is left out it does not depend on one.',
    ),
  },
  ['name', 'kind', 'takes', 'optional', 'repeat', 'words'],
)

const example = object(
  {
    calculation: sentence('Without `calc/`.'),
    value: { type: ['number', 'null'] },
    at: sentence('The time at which it has the value; any time when left out.'),
    zone: sentence('UTC when left out.'),
  },
  ['calculation', 'value'],
)

const definition = object(
  {
    name: sentence('In upper case; a calculation may write it in any case.'),
    aliases: listOf(text),
    section: { type: 'string', enum: [...SECTIONS] },
    usage: sentence('The function with its parameters.'),
    parameters: listOf(parameter),
    summary: text,
    details: sentence('Markdown; empty when the summary says all.'),
    nulls: sentence('What a null input does.'),
    stepped: sentence('Whether the result is held between raw points.'),
    rawTimes: sentence('Where its raw points stand.'),
    cost: sentence('What it costs in points of historians.'),
    examples: listOf(example),
  },
  [
    'name',
    'aliases',
    'section',
    'usage',
    'parameters',
    'summary',
    'details',
    'nulls',
    'stepped',
    'rawTimes',
    'cost',
    'examples',
  ],
)

const virtualHistorian = object(
  {
    name: text,
    summary: text,
    tags: listOf(
      object(
        {
          name: sentence('A name, or a form of names with what is to be filled in in `<>`.'),
          summary: text,
          example: sentence('A whole name of the form.'),
        },
        ['name', 'summary'],
      ),
    ),
    rawTimes: text,
    stepped: text,
  },
  ['name', 'summary', 'tags', 'rawTimes', 'stepped'],
)

const { functions, virtualHistorians } = catalogue()

export const operation: Operation = {
  id: 'listCalculations',
  group: 'Points',
  summary: 'List what can stand in a calculation',
  description:
    'All functions with their parameters, rules and examples, and the virtual historians with their tags, for editors that complete and explain calculations. The same for every key.',
  answers: {
    200: {
      description: 'In the order of docs/calculations.md.',
      content: {
        schema: object(
          { functions: listOf(definition), virtualHistorians: listOf(virtualHistorian), ...COMMON },
          ['functions', 'virtualHistorians'],
        ),
        examples: {
          excerpt: {
            functions: functions.slice(0, 1),
            virtualHistorians: virtualHistorians.slice(0, 1),
          },
        },
      },
    },
  },
}
