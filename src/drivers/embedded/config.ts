import { z } from 'zod'
import { type Duration, parseDuration, rateUs } from '../../time/duration.ts'
import { US_PER_MINUTE } from '../../time/instant.ts'

const FOLDER = 'the path of a folder'
const SECONDS = 'a number from 1 to 3600'
const MEGABYTES = 'a number from 1 to 1000000'
const MATCH = 'a tag name of 1 to 1000 characters, * for any text and ? for one character'
const KEEP = 'a duration of at least 1 minute such as 90d, 6mo or 2y'
const OTHER_MATCH = 'a match that no rule before it has'
const RULES = 'a list of at most 100 rules such as {match: "*", keep: 1y}'

/** What is given in milliseconds, or meant otherwise, must not remove everything. */
function isLongEnough(duration: Duration | null): boolean {
  return duration !== null && (rateUs(duration) ?? US_PER_MINUTE) >= US_PER_MINUTE
}

/** Which tags keep their points for how long. */
const rule = z.strictObject({
  match: z.string(MATCH).min(1, MATCH).max(1_000, MATCH),
  keep: z
    .string(KEEP)
    .refine((text) => isLongEnough(parseDuration(text)), KEEP)
    .transform((text) => parseDuration(text)!),
})

/** Configuration of an embedded historian, besides its type; messages say what is expected. */
export const embeddedConfigSchema = z.strictObject({
  /** Whether points and tags can be changed. */
  writable: z.boolean('true or false').default(true),
  /** Its folder; without, one inside the data directory. */
  path: z.string(FOLDER).min(1, FOLDER).optional(),
  /** Folder, which must be there, that its log is archived in; without, it is not. */
  archive: z.string(FOLDER).min(1, FOLDER).optional(),
  /** So many seconds after it was acknowledged a change begins to be archived. */
  archiveSeconds: z.number(SECONDS).min(1, SECONDS).max(3600, SECONDS).default(60),
  /** Megabytes of the log that are kept at most while the archive cannot be written. */
  archiveKeepMegabytes: z.number(MEGABYTES).min(1, MEGABYTES).max(1_000_000, MEGABYTES).default(1_024),
  /** The first rule that matches counts; what matches none stays for ever. */
  retention: z
    .array(rule, RULES)
    .max(100, RULES)
    .superRefine((rules, context) => {
      const seen = new Set<string>()
      for (const [index, { match }] of rules.entries()) {
        if (seen.has(match))
          context.addIssue({ code: 'custom', path: [index, 'match'], message: OTHER_MATCH })
        seen.add(match)
      }
    })
    .default([]),
})

export type EmbeddedConfig = z.infer<typeof embeddedConfigSchema>
