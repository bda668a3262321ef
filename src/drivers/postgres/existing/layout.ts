import type { CallContext, TagMetadata } from '../../../historian/contract.ts'
import { unavailable } from '../../../historian/remote/unavailable.ts'
import type { ExistingConfig, TagsConfig, WideConfig } from '../config.ts'
import { type Layout, Once } from '../layout.ts'
import { Places } from '../places.ts'
import type { Place, Relation } from '../relation.ts'
import type { Server } from '../server.ts'
import type { TagTable } from '../tag-table.ts'
import { identifier } from '../text.ts'
import { Describer, fromOf, TYPE } from './describe.ts'
import { checkText, narrowRelation, wideRelations } from './relations.ts'
import {
  configuredTags,
  endingOf,
  findInAll,
  listedTags,
  searchAll,
  type TagSource,
  tagsOfPoints,
  tagsOfRows,
} from './tags.ts'

/** What was found of the tables. */
interface Found {
  readonly places: Places
  readonly sources: readonly TagSource[]
}

/** Tables that are there already: looked at by the first call, and only read. */
export function openExisting(server: Server, config: ExistingConfig, historian: string): Layout {
  const looked = new Once((context) => look(new Describer(server, historian, context), config))
  let sources: readonly TagSource[] | null = null
  const ready = async (context: CallContext) => {
    const found = await looked.get(context)
    sources = found.sources
    return found.places
  }
  const known = () => {
    if (sources === null) throw unavailable(historian, 'its tables were not looked at yet')
    return sources
  }
  return {
    ready,
    // They belong to somebody else, who may have changed them: looked at anew.
    check: async (context) => {
      looked.forget()
      await ready(context)
    },
    trouble: async () => null,
    findTags: (session, names) => findInAll(session, known(), names),
    searchTags: (session, query) => searchAll(session, known(), query),
    changes: null,
  }
}

type PlaceOf = (tag: string) => Place | null

/** Wide tables come first: they name their tags, or the endings of them. What is left is the narrow table's. */
async function look(describer: Describer, config: ExistingConfig): Promise<Found> {
  const placesOf: PlaceOf[] = []
  const sources: TagSource[] = []
  for (const [index, wide] of config.wide.entries()) {
    const relations = await wideRelations(`existing.wide.${index}`, wide, describer)
    const metadata = wideMetadata(wide, config.stepped)
    const relationOf = new Map(
      Object.keys(wide.values).map((column) => [nameOf(wide, column), relations.get(column)!]),
    )
    if (wide.tag === undefined) {
      placesOf.push((tag) => placed(relationOf.get(tag), ''))
      sources.push(configuredTags(metadata))
    } else {
      placesOf.push((tag) => {
        const ending = endingOf(tag, relationOf)
        return ending === null ? null : placed(relationOf.get(ending), tag.slice(0, -ending.length))
      })
      sources.push(tagsOfRows([...relationOf.values()][0]!, identifier(wide.tag), metadata))
    }
  }
  if (config.points !== undefined) {
    const { points, tags, stepped } = config
    const relation = await narrowRelation('existing.points', points, tags, describer)
    placesOf.push((tag) => ({ relation, tag }))
    sources.push(
      tags === undefined
        ? tagsOfPoints(relation, identifier(points.tag), { description: null, units: null, stepped })
        : listedTags(await tagTableOf(tags, stepped, describer)),
    )
  }
  const places = new Places((tag) => {
    for (const placeOf of placesOf) {
      const place = placeOf(tag)
      if (place !== null) return place
    }
    return null
  })
  return { places, sources }
}

function placed(relation: Relation | undefined, tag: string): Place | null {
  return relation === undefined ? null : { relation, tag }
}

/** The name of a column's tag, or the ending of its tags' names where each row says whose it is. */
function nameOf({ values, tag, separator }: WideConfig, column: string): string {
  const configured = values[column]!
  const name = typeof configured === 'string' ? configured : configured.name
  return tag === undefined ? name : separator + name
}

function wideMetadata(wide: WideConfig, stepped: boolean): ReadonlyMap<string, TagMetadata> {
  return new Map(
    Object.entries(wide.values).map(([column, configured]) => {
      const { description, units, ...own } =
        typeof configured === 'string' ? { name: configured } : configured
      return [
        nameOf(wide, column),
        { description: description ?? null, units: units ?? null, stepped: own.stepped ?? stepped },
      ]
    }),
  )
}

async function tagTableOf(config: TagsConfig, stepped: boolean, describer: Describer): Promise<TagTable> {
  const path = 'existing.tags'
  const columns = [
    config.name,
    config.key,
    config.description,
    config.units,
    config.stepped,
    config.maxGap,
    config.states,
  ]
  const types = await describer.types(path, config, [
    ...new Set(columns.filter((column) => column !== undefined)),
  ])
  checkText(`${path}.name`, config.name, types, describer)
  if (config.stepped !== undefined && types.get(config.stepped) !== TYPE.bool) {
    throw describer.wrong(`${path}.stepped has to be a boolean column`)
  }
  const textOf = (column: string | undefined) =>
    column === undefined ? 'NULL::text' : `t.${identifier(column)}::text`
  return {
    from: fromOf(config),
    name: `t.${identifier(config.name)}::text`,
    description: textOf(config.description),
    units: textOf(config.units),
    stepped:
      config.stepped === undefined
        ? String(stepped)
        : `coalesce(t.${identifier(config.stepped)}, ${stepped})`,
    maxGap: textOf(config.maxGap),
    states: textOf(config.states),
  }
}
