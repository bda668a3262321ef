/*
 * InfluxDB's line protocol: `measurement,key=value field=1,other="text" 1700000000000000`.
 */

/** A measurement's name as it stands in a line. */
export function lineMeasurement(name: string): string {
  return name.replace(/[, ]/g, '\\$&')
}

/** A tag key, tag value or field key as it stands in a line. */
export function lineKey(text: string): string {
  return text.replace(/[,= ]/g, '\\$&')
}

/** A text field's value. */
export function lineText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** A float field's value; the shortest digits that give the same double, -0 kept. */
export function lineNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/**
 * Why a text cannot be a tag's value, in words; `null` when it can. A backslash at the end would escape what comes
 * next, and there is no escape for it; a line break ends the line.
 */
export function valueProblem(text: string): string | null {
  if (text === '') return 'it is empty'
  if (text.endsWith('\\')) return 'InfluxDB takes no name that ends in a backslash'
  if (/[\n\r\0]/.test(text)) return 'InfluxDB takes no name with a line break'
  return null
}

/** Why a text cannot name a tag key or a field: InfluxDB takes escapes away from some of those twice. */
export function keyProblem(text: string): string | null {
  if (/\\[,"= ]/.test(text)) {
    return 'InfluxDB takes no measurement or field with a backslash before a comma, blank, quote or ='
  }
  return valueProblem(text)
}

/** As keyProblem, for a measurement: a line that begins with a number sign is a comment, and lost without a word. */
export function measurementProblem(name: string): string | null {
  return name.startsWith('#') ? 'InfluxDB takes no measurement that begins with #' : keyProblem(name)
}
