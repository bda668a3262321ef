import { type Issue, issue } from '../errors/tidemark-error.ts'

/** At most so many issues of a request are listed; then one more says how many there are beyond. */
const MAX_LISTED = 1_000

/** The issues of one request, counted without end and listed up to 1,000. */
export class IssueList {
  readonly #listed: Issue[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** @param make called only when the issue will be listed, so that the rest cost nothing */
  add(make: () => Issue): void {
    this.#count++
    if (this.#listed.length < MAX_LISTED) this.#listed.push(make())
  }

  /** In the order they were added. */
  list(): readonly Issue[] {
    const more = this.#count - this.#listed.length
    return more === 0 ? this.#listed : [...this.#listed, issue('TOO_MANY_ISSUES', { count: more })]
  }
}
