import fc from 'fast-check'
import type { TagStates } from '../../series/optional-metadata.ts'
import type { MemoryCatalog } from './memory-catalog.ts'
import type { CatalogDraft, TagFields } from './tag-catalog.ts'
import type { TagRecord } from './tag-record.ts'

/** A catalog as plain maps: what a catalog says is to be the same. */
export class ModelCatalog {
  readonly byId = new Map<number, TagRecord>()
  nextId = 1

  find(name: string): TagRecord | null {
    return [...this.byId.values()].find((record) => record.name === name) ?? null
  }
}

/** Few, so that commands meet; some are stored in UTF-16, some look alike in one case. */
const NAMES = ['a', 'b', 'A', 'ß', 'ı', 'x'.repeat(300), '\ud800', '\u{1f525}', '', 'a\0b', 'name-7', 'ſ']
const anyText = fc.oneof(
  fc.constantFrom('', 'Bar', 'lone \udc00', 'øre', 'y'.repeat(70_000)),
  fc.string({ unit: 'binary' }),
)
const fields = fc.record(
  {
    description: fc.option(anyText),
    units: fc.option(anyText),
    stepped: fc.boolean(),
    maxGap: fc.constantFrom('1s', 'PT5M'),
    states: fc.constantFrom<TagStates>({ 0: 'Closed', 1: 'Open' }, { '-1': 'ø\u{1f525}' }),
  },
  { requiredKeys: ['description', 'units', 'stepped'] },
)
const name = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...NAMES) }, { weight: 1, arbitrary: anyText })

/** What a draft is told; names that do not fit what is there make a command do nothing. */
export type Command =
  | { readonly kind: 'put'; readonly name: string; readonly fields: Omit<TagFields, 'name'> }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string }
  | { readonly kind: 'rotate'; readonly names: readonly string[] }

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), name, fields }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename' as const), name, to: name }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rotate' as const),
      names: fc.uniqueArray(name, { maxLength: 4 }),
    }),
  },
)

/** Does a command to the model and to a draft. */
export function run(command: Command, model: ModelCatalog, draft: CatalogDraft): void {
  const found = 'name' in command ? model.find(command.name) : null
  if (command.kind === 'put') {
    const wanted = { name: command.name, ...command.fields }
    if (found === null) {
      const record = draft.create(wanted)
      model.byId.set(record.id, { id: model.nextId++, ...wanted })
    } else {
      model.byId.set(found.id, { ...wanted, id: found.id })
      draft.change(found, { ...wanted, id: found.id })
    }
  } else if (command.kind === 'remove') {
    if (found === null) return
    model.byId.delete(found.id)
    draft.remove(found)
  } else if (command.kind === 'rename') {
    if (found === null || model.find(command.to) !== null) return
    model.byId.set(found.id, { ...found, name: command.to })
    rename(draft, [{ record: found, to: command.to }])
  } else {
    const records = command.names.flatMap((one) => model.find(one) ?? [])
    const renames = records.map((record, i) => ({ record, to: records[(i + 1) % records.length]!.name }))
    for (const { record, to } of renames) model.byId.set(record.id, { ...record, name: to })
    rename(draft, renames)
  }
}

/** All that a catalog says of its tags, and the id of the next one. */
export function contentOf(catalog: MemoryCatalog) {
  const tags: TagRecord[] = []
  for (let id = 1; id < catalog.nextId; id++) {
    const record = catalog.get(id)
    if (record !== null) tags.push(record)
  }
  return { tags, size: catalog.size, nextId: catalog.nextId }
}

export function contentOfModel(model: ModelCatalog) {
  const tags = [...model.byId.values()].sort((a, b) => a.id - b.id)
  return { tags, size: tags.length, nextId: model.nextId }
}

/** Every name of the commands, to be looked for. */
export function namesOf(commands: readonly Command[]): readonly string[] {
  return commands.flatMap((command) => {
    if (command.kind === 'rotate') return command.names
    return command.kind === 'rename' ? [command.name, command.to] : [command.name]
  })
}

/** Gives tags other names, which may go round in a circle. */
export function rename(
  draft: CatalogDraft,
  renames: readonly { readonly record: TagRecord; readonly to: string }[],
): void {
  for (const { record } of renames) draft.free(record.name)
  for (const { record, to } of renames) draft.move(record.id, to)
}
