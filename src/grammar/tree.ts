import type { Anchor, TotalWindow } from '../time/anchor.ts'
import type { Duration } from '../time/duration.ts'
import type { Offset } from '../time/offset.ts'

/**
 * A tag address as a tree. Immutable; columns count from 1 in the whole address as the client sent it, `calc/`
 * included.
 */
export type TagTree = TagNode | CallNode

/** A tag of a historian, stored or virtual: `local/FLOW`, `constants/5`. */
export interface TagNode {
  readonly kind: 'tag'
  readonly historian: string
  readonly name: string
  readonly column: number
  /** Name of the alias that refers to it, where it stands for one. */
  readonly alias?: string
}

/** A calculation. */
export interface CallNode {
  readonly kind: 'call'
  /** Canonical name: of `totalise2` it is `TOTALISE`. */
  readonly name: string
  readonly args: readonly Argument[]
  readonly column: number
}

/** What a parameter takes. */
export type ParameterKind =
  | 'series'
  | 'number'
  | 'duration'
  | 'anchor'
  | 'window'
  | 'window-anchor'
  | 'offset'
  | 'time'
  | 'word'

/** An argument, read as its parameter's kind says. `text` is what stood there, for printing and messages. */
export type Argument =
  | { readonly kind: 'series'; readonly tree: TagTree; readonly column: number }
  | {
      readonly kind: 'number'
      readonly value: number
      readonly percent: boolean
      readonly text: string
      readonly column: number
    }
  | { readonly kind: 'duration'; readonly duration: Duration; readonly text: string; readonly column: number }
  | { readonly kind: 'anchor'; readonly anchor: Anchor; readonly text: string; readonly column: number }
  | { readonly kind: 'window'; readonly window: TotalWindow; readonly text: string; readonly column: number }
  /** Read against the length of the windows by the function, so kept as text that fits some. */
  | { readonly kind: 'window-anchor'; readonly text: string; readonly column: number }
  | { readonly kind: 'offset'; readonly offset: Offset; readonly text: string; readonly column: number }
  /** Resolved by the function against its own "now", so kept as text that is known to parse. */
  | { readonly kind: 'time'; readonly text: string; readonly column: number }
  /** Upper case, one of the parameter's words. */
  | { readonly kind: 'word'; readonly word: string; readonly column: number }
  /** Does not parse; only where the parameter says `mayFail`. */
  | { readonly kind: 'broken'; readonly text: string; readonly column: number }

/** One parameter of a function. */
export interface Parameter {
  readonly name: string
  readonly kind: ParameterKind
  /** For kind 'word': what is allowed, upper case. */
  readonly words?: readonly string[]
  /** May be left out; only after all that may not. */
  readonly optional?: true
  /** Takes one or more arguments; only for the last parameter. */
  readonly repeat?: true
  /** Stands there only where this word is among the arguments before it; elsewhere the parameter is not there. */
  readonly onlyWith?: string
  /** For kind 'number': `20%` may stand there too. */
  readonly percent?: true
  /** An argument that does not parse is one of kind 'broken' and no error: the first one of IFTAGEXISTS. */
  readonly mayFail?: true
}

/** What the parser needs to know of a function; src/calc/functions declares them. */
export interface FunctionSignature {
  readonly name: string
  readonly aliases: readonly string[]
  readonly parameters: readonly Parameter[]
  /** What the kinds cannot say, such as a rate without months; null when all is well. */
  readonly check?: (args: readonly Argument[]) => Complaint | null
}

/** Why an argument cannot stand where it does. */
export interface Complaint {
  /** Place of the argument, from 0. */
  readonly argument: number
  /** As in `expected a rate of fixed length such as 1h or 1d, found 1mo`. */
  readonly reason: string
}
