import { parseAnchor, parseWindow } from '../time/anchor.ts'
import { parseDuration } from '../time/duration.ts'
import { parseOffset } from '../time/offset.ts'
import { LONGEST_TIME, parseTime, type TimeContext } from '../time/parse.ts'
import { isWindowAnchor } from '../time/window-anchor.ts'
import { parseNumber } from './number.ts'
import type { Argument, Parameter } from './tree.ts'

/** A parameter that takes a literal and no series. */
export type LiteralParameter = Parameter & { readonly kind: Exclude<Parameter['kind'], 'series'> }

/**
 * Reads an argument that is no series, as its parameter's kind says.
 * @param text  trimmed, without quotes
 * @returns     `null` when it is nothing of that kind
 */
export function readLiteral(
  parameter: LiteralParameter,
  text: string,
  column: number,
  { now, zone }: TimeContext,
): Argument | null {
  if (text.length > LONGEST_TIME) return null
  switch (parameter.kind) {
    case 'number': {
      const percent = parameter.percent === true && text.endsWith('%')
      const value = parseNumber(percent ? text.slice(0, -1) : text)
      return value === null ? null : { kind: 'number', value, percent, text, column }
    }
    case 'duration': {
      const duration = parseDuration(text)
      return duration === null ? null : { kind: 'duration', duration, text, column }
    }
    case 'anchor': {
      const anchor = parseAnchor(text, zone)
      return anchor === null ? null : { kind: 'anchor', anchor, text, column }
    }
    case 'window': {
      const window = parseWindow(text)
      return window === null ? null : { kind: 'window', window, text, column }
    }
    case 'window-anchor':
      return isWindowAnchor(text) ? { kind: 'window-anchor', text, column } : null
    case 'offset': {
      const offset = parseOffset(text)
      return offset === null ? null : { kind: 'offset', offset, text, column }
    }
    case 'time':
      return parseTime(text, { now, zone }) === null ? null : { kind: 'time', text, column }
    case 'word': {
      const word = text.toUpperCase()
      return parameter.words?.includes(word) ? { kind: 'word', word, column } : null
    }
  }
}

/** Whether a literal may stand in quotes: whatever is about time, as it may hold a comma. */
export function mayBeQuoted(kind: LiteralParameter['kind']): boolean {
  return kind !== 'number' && kind !== 'word'
}

/** Whether a parameter takes a literal. */
export function isLiteral(parameter: Parameter): parameter is LiteralParameter {
  return parameter.kind !== 'series'
}
