import { ERRORS } from '../src/errors/codes.ts'
import { CALL_LIMITS, FIXED_LIMITS, type Limit, REMEDIES, SERVER_LIMITS } from '../src/errors/limits.ts'

/** docs/limits.md, written from the table of limits. */
export function limitReference(): string {
  return `# Limits

Generated from src/errors/limits.ts by \`npm run generate\`. Every limit is checked before the work that it bounds is done. What a
sentence means for the status of the answer is in [errors.md](errors.md), the settings themselves in [configuration.md](configuration.md).

## Of one call or request

| setting | default | takes | at most so many | code and sentence beyond |
|---|---|---|---|---|
${Object.entries(CALL_LIMITS)
  .map(([name, limit]) => row(`limits.${name}`, limit))
  .join('\n')}

\`"explain": true\` in a multi call shows ${listed(
    Object.values(CALL_LIMITS).flatMap((limit) => ('explain' in limit ? [`\`${limit.explain}\``] : [])),
  )} of the call beside their limits.

What can be done about one of the limits that \`explain\` shows stands at the end of its sentence, after a semicolon:

${Object.values(REMEDIES)
  .map((remedy) => `- \`${remedy}\``)
  .join('\n')}

## Of the service

| setting | default | takes | at most so many | code and sentence beyond |
|---|---|---|---|---|
${Object.entries(SERVER_LIMITS)
  .map(([name, limit]) => row(`server.${name}`, limit))
  .join('\n')}

\`server.writeBodyLimitBytes\` is \`server.bodyLimitBytes\` where only that one was set. A body is never larger than \`server.maxBytesInWork\`.

## That cannot be set

| what | limit | beyond |
|---|---|---|
${Object.values(FIXED_LIMITS)
  .map(({ what, limit, beyond }) => `| ${what} | ${grouped(limit)} | ${beyond} |`)
  .join('\n')}
`
}

function row(setting: string, limit: Limit): string {
  const takes =
    limit.isFraction === true ? fractionsOf(limit) : `${grouped(limit.least)} to ${mostOf(limit.most)}`
  const sentence = `\`${limit.code}\`: ${ERRORS[limit.code].text}`
  return `| \`${setting}\` | ${grouped(limit.default)} | ${takes} | ${limit.counts} | ${sentence} |`
}

function fractionsOf({ most }: Limit): string {
  return most === Number.MAX_SAFE_INTEGER ? 'above 0' : `above 0, up to ${grouped(most)}`
}

function mostOf(most: number): string {
  return most === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : grouped(most)
}

function grouped(number: number): string {
  return number.toLocaleString('en')
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
