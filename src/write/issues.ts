import { FIXED_LIMITS } from '../errors/limits.ts'
import { type Issue, issue } from '../errors/tidemark-error.ts'

/** At most so many issues of a request are listed; then one more says how many there are beyond. */
export const MOST_LISTED: number = FIXED_LIMITS.listedIssues.limit

/** The issues of one request, counted without end and listed up to 1,000. */
export class IssueList {
  readonly #most: number
  readonly #listed: Issue[] = []
  #count = 0

  /** @param most how many are listed */
  constructor(most = MOST_LISTED) {
    this.#most = most
  }

  get count(): number {
    return this.#count
  }

  /** How many of them are listed. */
  get listed(): number {
    return this.#listed.length
  }

  /** @param make called only when the issue will be listed, so that further ones cost nothing */
  add(make: () => Issue): void {
    this.#count++
    if (this.#listed.length < this.#most) this.#listed.push(make())
  }

  /** Those of another list, behind the ones that are here. */
  addAll(others: IssueList): void {
    if (others.#count === 0) return
    this.#count += others.#count
    for (const other of others.#listed) {
      if (this.#listed.length >= this.#most) return
      this.#listed.push(other)
    }
  }

  /** In the order they were added. */
  list(): readonly Issue[] {
    const more = this.#count - this.#listed.length
    return more === 0 ? this.#listed : [...this.#listed, issue('TOO_MANY_ISSUES', { count: more })]
  }
}
