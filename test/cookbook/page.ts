/** A call with the part of its answer that the page shows, or a command with what it prints. */
export type Step =
  | { readonly kind: 'call'; readonly path: string; readonly body: object; readonly answer: object }
  | { readonly kind: 'command'; readonly command: string; readonly output: string }

/** A question of the page, with what answers it, in the order of the page. */
export interface Recipe {
  readonly title: string
  readonly steps: readonly Step[]
}

/** Fences in their order: `json PATH` is a call, `json` behind it its answer, `console` a command and its output. */
const FENCE = /^```(json|console)(?: (\S+))?\n([\s\S]*?)^```$/gm

/** The recipes of a page: each heading of the second level that begins with a number. */
export function readRecipes(page: string): readonly Recipe[] {
  return page
    .split(/^## /m)
    .filter((section) => /^\d+\. /.test(section))
    .map((section) => {
      const fences = [...section.matchAll(FENCE)].map(([, kind, path, text]) => ({ kind, path, text: text! }))
      const steps = fences.flatMap(({ kind, path, text }, i): Step[] => {
        if (kind === 'console') {
          const [first, ...rest] = text.split('\n')
          return [{ kind: 'command', command: first!.replace(/^\$ /, ''), output: rest.join('\n').trimEnd() }]
        }
        if (path === undefined) return []
        const next = fences[i + 1]
        const answer = next?.kind === 'json' && next.path === undefined ? JSON.parse(next.text) : {}
        return [{ kind: 'call', path, body: JSON.parse(text), answer }]
      })
      return { title: section.split('\n', 1)[0]!, steps }
    })
}
