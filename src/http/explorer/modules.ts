/** Specifiers of static imports and exports; the page has no others. */
const SPECIFIER = /((?:^|[;}\s])(?:import|export)\b(?:[\w$\s{},*]*?\bfrom)?\s*)(['"])([^'"\n]+)\2/g

/** URL folder of the modules of installed packages, beside those of the explorer. */
export const LIBRARIES = 'lib'

/** Bare specifiers of a module, such as `lit-html` or `lit-html/directive.js`. */
export function bareImports(code: string): readonly string[] {
  return Array.from(code.matchAll(SPECIFIER), ([, , , specifier]) => specifier!).filter(isBare)
}

/** Relative specifiers of a module. */
export function relativeImports(code: string): readonly string[] {
  return Array.from(code.matchAll(SPECIFIER), ([, , , specifier]) => specifier!).filter(
    (specifier) => !isBare(specifier),
  )
}

/**
 * A module as a browser can load it: `.ts` becomes `.js`, and bare specifiers become paths below `lib/`. An import map
 * would be an inline script, which the policy of the page does not allow.
 * @param path  of the module below the explorer's folder, `chart/chart.js`
 */
export function rewriteImports(code: string, path: string): string {
  const up = '../'.repeat(path.split('/').length - 1) || './'
  const rewritten = code.replace(SPECIFIER, (_all, before: string, quote: string, specifier: string) => {
    const target = isBare(specifier)
      ? `${up}${LIBRARIES}/${libraryPath(specifier)}`
      : specifier.replace(/\.ts$/, '.js')
    return `${before}${quote}${target}${quote}`
  })
  return rewritten.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
}

/** Where a bare specifier is served below `lib/`: the package's own module has the name of the package. */
export function libraryPath(specifier: string): string {
  const names = specifier.split('/')
  const isPackage = names.length === (specifier.startsWith('@') ? 2 : 1)
  return isPackage ? `${specifier}/${names.at(-1)}.js` : specifier
}

function isBare(specifier: string): boolean {
  return !specifier.startsWith('.') && !specifier.startsWith('/')
}
