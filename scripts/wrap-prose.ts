const COLUMNS = 120

/** A Markdown page whose paragraphs of prose end at 120 columns; tables, headings and code stay as they are. */
export function wrapProse(page: string): string {
  const lines: string[] = []
  let paragraph: string[] = []
  let isCode = false
  const flush = () => {
    const isWide = paragraph.some((line) => line.length > COLUMNS)
    if (isWide)
      lines.push(...wrapLine([paragraph[0]!, ...paragraph.slice(1).map((line) => line.trim())].join(' ')))
    else lines.push(...paragraph)
    paragraph = []
  }
  for (const line of page.split('\n')) {
    const isFence = line.trimStart().startsWith('```')
    if (isFence) isCode = !isCode
    const isProse = !isFence && !isCode && /^\s*[^\s|#]/.test(line)
    if (!isProse || /^\s*(?:[-*]|\d+\.) /.test(line)) flush()
    if (isProse) paragraph.push(line)
    else lines.push(line)
  }
  flush()
  return lines.join('\n')
}

function wrapLine(line: string): readonly string[] {
  const [, indent = '', mark = ''] = /^(\s*)((?:[-*]|\d+\.) )?/.exec(line)!
  const further = indent + ' '.repeat(mark.length)
  const lines: string[] = []
  let current = indent + mark
  for (const word of line.slice(current.length).split(' ')) {
    const isFirst = current.trimEnd() === current.slice(0, indent.length) + mark.trimEnd()
    // At the start of a line these would be a list, a heading or a quotation.
    const mayStart = !/^(?:[-+*>#]|\d+[.)])$/.test(word)
    if (!isFirst && mayStart && current.length + 1 + word.length > COLUMNS) {
      lines.push(current)
      current = further + word
    } else current += isFirst ? word : ` ${word}`
  }
  return [...lines, current]
}
