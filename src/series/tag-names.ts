/**
 * The order of tag names everywhere: by code point, which is the order of their UTF-8 bytes. It differs from `<` on
 * JavaScript strings, which orders by UTF-16 unit and so puts surrogate pairs before U+E000 to U+FFFF.
 * @returns negative, zero or positive, as Array.prototype.sort wants it
 */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

/**
 * Lifts surrogates above the units from U+E000: the first unit that differs decides, and only their order is wrong in
 * UTF-16.
 */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/**
 * Text with the differences of case taken out, character by character, so that the fold of a beginning is the beginning
 * of the fold and the number of characters stays. A character whose other case is several characters keeps to its own.
 */
export function foldCase(text: string): string {
  // The characters below U+0080 fold alike one by one and together.
  if (ASCII.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) folded += foldCharacter(character)
  return folded
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const ASCII = /^[\x00-\x7f]*$/

function foldCharacter(character: string): string {
  // Up and then down: Greek final sigma and the long s meet their common form only by way of their capitals.
  const upper = character.toUpperCase()
  const lower = (isOneCharacter(upper) ? upper : character).toLowerCase()
  return isOneCharacter(lower) ? lower : character
}

function isOneCharacter(text: string): boolean {
  return text.length === 1 || (text.length === 2 && text.codePointAt(0)! > 0xffff)
}
