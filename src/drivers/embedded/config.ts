import { z } from 'zod'

const FOLDER = 'the path of a folder'

/** Configuration of an embedded historian, besides its type; messages say what is expected. */
export const embeddedConfigSchema = z.strictObject({
  /** Whether points and tags can be changed. */
  writable: z.boolean('true or false').default(true),
  /** Its folder; without, one inside the data directory. */
  path: z.string(FOLDER).min(1, FOLDER).optional(),
})

export type EmbeddedConfig = z.infer<typeof embeddedConfigSchema>
