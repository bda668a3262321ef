/** Entries of an object or array that are written at once. */
const ENTRIES = 1_000

/**
 * The JSON of an answer whose fields may have an entry for each of thousands of tags, in chunks: written as a whole it
 * would keep the event loop for a tenth of a second.
 * @param body as JSON.stringify takes it, but that a field may be a Map, which stands for an object of its entries; its
 *             own fields are looked into, and nothing below them
 */
export function* resultChunks(body: object): Generator<Uint8Array> {
  let text = '{'
  let separator = ''
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    text += `${separator}${JSON.stringify(name)}:`
    separator = ','
    if (!isLong(value)) {
      text += JSON.stringify(value)
      continue
    }
    const isArray = Array.isArray(value)
    text += isArray ? '[' : '{'
    let comma = ''
    for (const chunk of isArray ? elements(value) : members(value as Named)) {
      yield Buffer.from(text + comma + chunk)
      text = ''
      comma = ','
    }
    text += isArray ? ']' : '}'
  }
  yield Buffer.from(`${text}}`)
}

/** Whether an answer is worth chunks. */
export function hasLongField(body: object): boolean {
  return Object.values(body).some(isLong)
}

function isLong(value: unknown): value is Long {
  if (typeof value !== 'object' || value === null) return false
  if (value instanceof Map) return true
  if (Array.isArray(value)) return value.length > ENTRIES
  let count = 0
  for (const _name in value) if (++count > ENTRIES) return true
  return false
}

type Fields = Readonly<Record<string, unknown>>
type Named = Fields | ReadonlyMap<string, unknown>
type Long = readonly unknown[] | Named

/** JSON of the elements of an array with commas between them and no brackets around, some at a time. */
function* elements(array: readonly unknown[]): Generator<string> {
  for (let at = 0; at < array.length; at += ENTRIES) {
    yield JSON.stringify(array.slice(at, at + ENTRIES)).slice(1, -1)
  }
}

/** The same of the members of an object or a Map. */
function* members(object: Named): Generator<string> {
  let some: string[] = []
  for (const [name, value] of object instanceof Map ? object : fieldsOf(object as Fields)) {
    some.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
    if (some.length < ENTRIES) continue
    yield some.join(',')
    some = []
  }
  if (some.length > 0) yield some.join(',')
}

function* fieldsOf(object: Fields): Generator<readonly [string, unknown]> {
  for (const name of Object.keys(object)) yield [name, object[name]]
}
