/** Indexes of queries with the same windows, or the same times, which one query at the server can answer. */
export function sameWindows<Query>(
  queries: readonly Query[],
  edgesOf: (query: Query) => Float64Array,
  flag: (query: Query) => string = () => '',
): readonly (readonly number[])[] {
  const groups = new Map<string, number[][]>()
  queries.forEach((query, index) => {
    const edges = edgesOf(query)
    const key = `${edges.length} ${edges[0]} ${edges[edges.length - 1]} ${flag(query)}`
    const candidates = groups.getOrInsertComputed(key, () => [])
    const same = candidates.find((members) => isSame(edgesOf(queries[members[0]!]!), edges))
    if (same === undefined) candidates.push([index])
    else same.push(index)
  })
  return [...groups.values()].flat()
}

function isSame(one: Float64Array, other: Float64Array): boolean {
  return one === other || one.every((edge, i) => edge === other[i])
}
