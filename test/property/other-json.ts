import fc from 'fast-check'

/** Any JSON in place of a value somewhere in a text of JSON. */
export function withOther(text: string, place: number, other: unknown): string {
  const paths: (readonly (string | number)[])[] = []
  const collect = (value: unknown, path: readonly (string | number)[]) => {
    paths.push(path)
    if (Array.isArray(value)) for (const [i, one] of value.entries()) collect(one, [...path, i])
    else if (typeof value === 'object' && value !== null) {
      for (const [key, one] of Object.entries(value)) collect(one, [...path, key])
    }
  }
  const all = JSON.parse(text) as unknown
  collect(all, [])
  const path = paths[place % paths.length]!
  if (path.length === 0) return JSON.stringify(other)
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  let parent = all as any
  for (const key of path.slice(0, -1)) parent = parent[key]
  parent[path.at(-1)!] = other
  return JSON.stringify(all)
}

export const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, 0, -1, 1.5, 1e300, '', '../x', [], {}, [null], [{}], { name: 5 }),
)
