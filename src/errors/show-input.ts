/** Characters of an input that a sentence shows. */
const SHOWN_LENGTH = 100

/**
 * How an input is shown in a sentence: a text as it is, anything else as JSON, cut after 100 characters; a field that
 * is missing as `null`. Takes as long as what it shows, however large or deep the input is.
 */
export function showInput(input: unknown): string {
  const text = typeof input === 'string' ? input : beginningOfJson(input, SHOWN_LENGTH + 1)
  if (text.length <= SHOWN_LENGTH) return text
  // Half a surrogate pair is no character.
  const end = isHighSurrogate(text.charCodeAt(SHOWN_LENGTH - 1)) ? SHOWN_LENGTH - 1 : SHOWN_LENGTH
  return text.slice(0, end)
}

/**
 * JSON text that is right up to `room` characters, and may be anything after. JSON.stringify would write the whole of a
 * large input for the sake of its beginning, and throws for one that is nested some ten thousand deep. Here each level
 * takes at least one character of the room, so the recursion ends with it.
 */
function beginningOfJson(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  // What overflows a double, such as 1e999, arrives as an infinity, which JSON.stringify would call null.
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return Array.isArray(value) ? beginningOfArray(value, room) : beginningOfObject(value, room)
}

function beginningOfArray(array: readonly unknown[], room: number): string {
  let text = '['
  for (let index = 0; index < array.length && text.length < room; index++) {
    if (index > 0) text += ','
    text += beginningOfJson(array[index], room - text.length)
  }
  return `${text}]`
}

function beginningOfObject(object: object, room: number): string {
  let text = '{'
  for (const key in object) {
    if (text.length >= room) break
    if (!Object.hasOwn(object, key)) continue
    if (text.length > 1) text += ','
    text += `${beginningOfJson(key, room)}:`
    if (text.length < room) text += beginningOfJson(object[key as keyof object], room - text.length)
  }
  return `${text}}`
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
