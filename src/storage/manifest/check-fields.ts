import { Damage } from '../damage.ts'
import { areSections } from '../parts/footer.ts'
import type { PartInfo } from '../parts/part.ts'
import type { Edit, Version } from './version.ts'

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isTime: Check = (value) => typeof value === 'number'
/** Names become paths: they have no separators. */
const isName: Check = (value) => typeof value === 'string' && /^[\w.-]+$/.test(value)
const isTimeOrNull: Check = (value) => value === null || isTime(value)
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)

const withFields =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]))

/** What has a length that counts: a segment, or a file of the catalog. */
const isFile = withFields({ name: isName, bytes: isCount })
const hasPartFields = withFields({
  name: isName,
  bytes: isCount,
  firstSequence: isCount,
  lastSequence: isCount,
  // JSON has null for what is infinite.
  firstTime: isTimeOrNull,
  lastTime: isTimeOrNull,
  points: isCount,
  tags: isCount,
  tombstones: isCount,
})
const isPart: Check = (value) => {
  if (!hasPartFields(value)) return false
  const { sections, bytes } = value as PartInfo
  return sections === undefined || areSections(sections, bytes)
}

/** Read by retentionFromJson. */
const isAnything: Check = () => true

const EDIT = {
  add: listOf(isPart),
  remove: listOf(isText),
  catalog: isFile,
  flushedSequence: isCount,
  flushedGeneration: isCount,
  accepted: listOf(isFile),
  kept: listOf(isFile),
  retention: isAnything,
} satisfies Readonly<Record<keyof Edit, Check>>

const VERSION = {
  number: isCount,
  token: isCount,
  historian: isText,
  id: isText,
  parts: listOf(isPart),
  catalog: (value) => value === null || isFile(value),
  flushedSequence: isCount,
  flushedGeneration: isCount,
  accepted: listOf(isFile),
  kept: listOf(isFile),
  copiedAt: isTime,
  follows: isText,
  retention: isAnything,
} satisfies Readonly<Record<keyof Version, Check>>

const LEFT_OUT: ReadonlySet<string> = new Set<keyof Version>(['copiedAt', 'follows', 'retention'])

/** Throws Damage for what is no edit. */
export function checkEdit(value: unknown): Edit {
  return checked(value, EDIT, () => true, 'an edit of the manifest') as Edit
}

/** Throws Damage for what is no version, but for its watermarks. */
export function checkVersion(value: unknown): Version {
  return checked(value, VERSION, (name) => LEFT_OUT.has(name), 'the first entry of the manifest') as Version
}

function checked(
  value: unknown,
  fields: Readonly<Record<string, Check>>,
  mayBeLeftOut: (name: string) => boolean,
  what: string,
): unknown {
  if (!isObject(value)) throw new Damage(`${what} is none`)
  for (const name of Object.keys(value)) {
    // What is not known here may say that something else is gone: it is not passed over.
    if (!Object.hasOwn(fields, name)) {
      throw new Damage(`${what} has the field ${name}, which this version does not know`)
    }
  }
  for (const [name, check] of Object.entries(fields)) {
    if (value[name] === undefined ? !mayBeLeftOut(name) : !check(value[name])) {
      throw new Damage(`the field ${name} of ${what} cannot be read`)
    }
  }
  return value
}
