import type { Operator, OperatorContext } from '../graph/operator.ts'

/** A historian whose tags are computed from their names; nothing of it is stored. */
export interface VirtualHistorian {
  /** One sentence for the reference. */
  readonly summary: string
  /** What its tags are called, for the reference and editors: each form of name, with what it gives. */
  readonly tags: readonly VirtualTag[]
  /** Where the raw points of its tags stand, in a sentence. */
  readonly rawTimes: string
  /** Whether its tags are held between raw points, in a sentence. */
  readonly stepped: string
  /** The leaf of a tag; `null` when there is no such tag. */
  readonly leaf: (name: string, context: OperatorContext) => Operator | null
}

/** One name of a tag, or one form of names. */
export interface VirtualTag {
  /** As it stands after the `/`; what is to be filled in stands in `<>`: `<number>`. */
  readonly name: string
  /** One sentence. */
  readonly summary: string
  /** A whole name of this form; left out where `name` is one itself. */
  readonly example?: string
}
