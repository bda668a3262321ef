import type { JsonCuts } from './cuts.ts'
import { FieldNames } from './field-names.ts'
import { invalidJson } from './invalid.ts'
import type { Cut } from './scan.ts'

type Container = unknown[] | Record<string, unknown>

/** An object or array that is cut open, as far as it is made. */
interface Open {
  readonly container: Container
  /** Of the fields of an object; `null` for an array. */
  readonly names: FieldNames | null
  /** Under which it stands in the one around it; '' in an array. */
  readonly name: string
}

/** Makes the value of a JSON text from its cuts; yields after each cut. Throws INVALID_JSON. */
export function* buildValue({ bytes, cuts }: JsonCuts): Generator<undefined, unknown> {
  const [value] = yield* buildFrom({ bytes, cuts }, 0)
  return value
}

/**
 * The value of the object or array that is cut open at a place of the cuts.
 * @returns the value, and the place behind its end
 */
export function* buildFrom(
  { bytes, cuts }: JsonCuts,
  start: number,
): Generator<undefined, readonly [value: unknown, next: number]> {
  const parents: Open[] = []
  let open = openOf(cuts[start]!, '')
  for (let place = start + 1; ; place++) {
    const cut = cuts[place]!
    if (cut.kind === 'members') {
      addMembers(open, parseMembers(bytes, cut, open.names === null))
      yield
    } else if (cut.kind === 'open') {
      parents.push(open)
      open = openOf(cut, open.names === null ? '' : nameOf(bytes, cut))
    } else {
      open.names?.done()
      const parent = parents.pop()
      if (parent === undefined) return [open.container, place + 1]
      addMember(parent, open.name, open.container)
      open = parent
    }
  }
}

function openOf(cut: Cut, name: string): Open {
  if (cut.kind === 'open' && cut.isArray) return { container: [], names: null, name }
  const container = {}
  return { container, names: new FieldNames(container), name }
}

/** The members of a cut, as an array or an object. */
export function parseMembers(
  bytes: Buffer,
  { from, to }: Cut & { readonly kind: 'members' },
  isArray: boolean,
): Container {
  const text = bytes.toString('utf8', from, to)
  return parse(isArray ? `[${text}]` : `{${text}}`, from, to)
}

/** The name under which an object or array stands in an object. */
export function nameOf(bytes: Buffer, { from, to }: Cut & { readonly kind: 'open' }): string {
  const names = Object.keys(parse(`{${bytes.toString('utf8', from, to)}0}`, from, to))
  // More or none where commas were left out or doubled.
  if (names.length !== 1) throw invalid(from, to)
  return names[0]!
}

function parse(text: string, from: number, to: number): Container {
  try {
    return JSON.parse(text) as Container
  } catch {
    throw invalid(from, to)
  }
}

function invalid(from: number, to: number) {
  return invalidJson(`something is not valid between byte ${from} and ${to}`)
}

function addMembers(open: Open, members: Container): void {
  const { container } = open
  if (Array.isArray(container)) {
    for (const member of members as unknown[]) container.push(member)
    return
  }
  for (const name in members) addMember(open, name, (members as Record<string, unknown>)[name])
}

function addMember({ container, names }: Open, name: string, member: unknown): void {
  if (Array.isArray(container)) {
    container.push(member)
    return
  }
  names?.add(name)
  if (name !== '__proto__') container[name] = member
  else {
    // Assigning would change the prototype; as JSON.parse does it, it is a field like any other.
    Object.defineProperty(container, name, {
      value: member,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
}
