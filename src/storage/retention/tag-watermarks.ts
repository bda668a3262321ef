import { foldedNameMatcher } from '../../historian/tag-pattern.ts'
import { foldCase } from '../../series/tag-names.ts'
import type { TagCatalog } from '../catalog/tag-catalog.ts'
import type { RetentionState } from '../manifest/retention-state.ts'

/** Of a tag whose points all stay. */
export const NO_WATERMARK = Number.NEGATIVE_INFINITY

/** Rules of a tag that is remembered: 0 for one that was not looked at, 1 for none, else its index and 2. */
const NO_RULE = 1
const FIRST_RULE = 2

/** The watermarks of tags: each is matched with the rules once, and remembered by its id in two bytes. */
export class TagWatermarks {
  #matches: readonly string[] = []
  #tests: readonly ((folded: string) => boolean)[] = []
  #catalog: TagCatalog | null = null
  #catalogVersion = 0
  #rules = new Uint16Array(0)

  /**
   * The watermark of a tag by its id, NO_WATERMARK for none; of an id that is not in use it is that of no rule.
   * @param catalog  the one that the id and the name are in now
   * @param name     of the tag, where it is at hand
   */
  of(retention: RetentionState | null, catalog: TagCatalog, id: number, name?: string): number {
    if (retention === null) return NO_WATERMARK
    const rule = this.ruleOf(retention, catalog, id, name)
    return rule === null ? NO_WATERMARK : retention.watermarks[rule]!
  }

  /** Index of the rule of a tag, `null` for none; otherwise as `of`. */
  ruleOf(retention: RetentionState, catalog: TagCatalog, id: number, name?: string): number | null {
    this.#prepare(retention, catalog)
    if (id >= this.#rules.length) this.#grow(id)
    let rule = this.#rules[id]!
    if (rule === 0) {
      const known = name ?? catalog.get(id)?.name
      if (known === undefined) return null
      rule = this.#find(known)
      this.#rules[id] = rule
    }
    return rule === NO_RULE ? null : rule - FIRST_RULE
  }

  /** The watermark of any name, also of a tag that does not exist yet. Costs a match with the rules each time. */
  ofName(retention: RetentionState | null, name: string): number {
    if (retention === null) return NO_WATERMARK
    this.#compile(retention)
    const rule = this.#find(name)
    return rule === NO_RULE ? NO_WATERMARK : retention.watermarks[rule - FIRST_RULE]!
  }

  #find(name: string): number {
    const folded = foldCase(name)
    const index = this.#tests.findIndex((test) => test(folded))
    return index < 0 ? NO_RULE : index + FIRST_RULE
  }

  #prepare(retention: RetentionState, catalog: TagCatalog): void {
    const isSame = this.#compile(retention)
    if (isSame && catalog === this.#catalog && catalog.version === this.#catalogVersion) return
    this.#catalog = catalog
    // Names of ids may be others than before.
    this.#catalogVersion = catalog.version
    this.#rules.fill(0)
  }

  /** Gives whether the rules are those of before. */
  #compile({ matches }: RetentionState): boolean {
    if (matches === this.#matches) return true
    const before = this.#matches
    this.#matches = matches
    if (matches.length === before.length && matches.every((match, i) => match === before[i])) return true
    this.#tests = matches.map(foldedNameMatcher)
    this.#rules.fill(0)
    return false
  }

  #grow(id: number): void {
    const grown = new Uint16Array(Math.max(1_024, Math.ceil((id + 1) * 1.25)))
    grown.set(this.#rules)
    this.#rules = grown
  }
}
