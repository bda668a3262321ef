/**
 * Members of an answer under names that the caller chose: an object without a prototype, or a Map where there are very
 * many of them. An object of 200,000 members holds up the event loop for tens of milliseconds whenever it grows, and
 * again when its names are listed.
 */
export type Members<Value> = Readonly<Record<string, Value>> | ReadonlyMap<string, Value>

/** More members than these stay a Map. */
export const MOST_OF_OBJECT = 1_000

/** Members in the order of the Map, which is not to be changed any more. */
export function membersOf<Value>(map: ReadonlyMap<string, Value>): Members<Value> {
  return map.size > MOST_OF_OBJECT ? map : objectOf(map)
}

/** All of them as an object, however many there are: where no event loop waits. */
export function objectOf<Value>(members: Members<Value>): Readonly<Record<string, Value>> {
  if (!isMap(members)) return members
  const object: Record<string, Value> = Object.create(null)
  for (const [name, value] of members) object[name] = value
  return object
}

export function isMap<Value>(members: Members<Value>): members is ReadonlyMap<string, Value> {
  return members instanceof Map
}
