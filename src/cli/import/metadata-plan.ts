import type { TagMetadata } from '../../historian/contract.ts'
import type { Access, MetadataProblem } from '../access.ts'
import { CommandError, EXIT, usageError } from '../exit.ts'
import { joinErrors } from '../hints.ts'
import { findMetadata, putMetadata, sentencesOf } from '../metadata.ts'

/** The options about metadata, by column, tag name or address. */
interface MetadataChoices {
  readonly stepped?: readonly string[]
  readonly units?: ReadonlyMap<string, string>
  readonly describe?: ReadonlyMap<string, string>
}

/** What the address of a name in the long form is. */
interface Target {
  addressOf(name: string, layout: 'long'): string | null
}

/** What --stepped, --units and --describe say of tags; what they do not say of an existing tag is left as it is. */
export class MetadataPlan {
  readonly #stepped: readonly string[]
  readonly #units: Map<string, string>
  readonly #descriptions: ReadonlyMap<string, string>
  #addresses: ReadonlyMap<string, string> | null = null

  constructor({ stepped = [], units = new Map(), describe = new Map() }: MetadataChoices) {
    this.#stepped = stepped
    this.#units = new Map(units)
    this.#descriptions = describe
  }

  /** Units that stand in the file; those of --units, by whatever name of a tag, come first. */
  addUnits(units: ReadonlyMap<string, string>): void {
    const given = new Set([...this.#units.keys()].map((name) => this.#addresses?.get(name)))
    for (const [column, unit] of units) {
      if (!given.has(this.#addresses?.get(column))) this.#units.set(column, unit)
    }
  }

  get #names(): readonly string[] {
    return [...new Set([...this.#stepped, ...this.#units.keys(), ...this.#descriptions.keys()])]
  }

  /** @param addresses of every name that the options may use */
  checkNames(addresses: ReadonlyMap<string, string>): void {
    for (const name of this.#names) {
      if (!addresses.has(name)) {
        throw usageError(`--stepped, --units or --describe names ${name}, which is no tag of this import`)
      }
    }
    this.#addresses = addresses
  }

  async apply(access: Access, tags: ReadonlySet<string>, target: Target): Promise<void> {
    if (this.#names.length === 0) return
    // The tags of the long form are only known now.
    const addressOf = (name: string) => this.#addresses?.get(name) ?? target.addressOf(name, 'long')
    const addresses = this.#names.map((name) => {
      const address = addressOf(name)
      if (address !== null && (tags.has(address) || this.#addresses !== null)) return address
      throw new CommandError(
        `The points are written, but --stepped, --units or --describe names ${name}, which is no tag of this import`,
      )
    })
    const { entries: existing, problems, cause } = await findMetadata(access, addresses)
    // Tags that are not known for another reason might lose what they have.
    refuse(
      problems.filter(({ code }) => code !== 'TAG_NOT_FOUND'),
      cause,
    )
    const entries = new Map<string, TagMetadata>()
    for (const [index, name] of this.#names.entries()) {
      const address = addresses[index]!
      const before = entries.get(address) ??
        existing.get(address) ?? { description: null, units: null, stepped: false }
      entries.set(address, {
        description: this.#descriptions.get(name) ?? before.description,
        units: this.#units.get(name) ?? before.units,
        stepped: before.stepped || this.#stepped.includes(name),
      })
    }
    const answer = await putMetadata(access, 'upsert', entries)
    refuse(answer.problems, answer.cause)
  }
}

function refuse(problems: readonly MetadataProblem[], cause: unknown): void {
  if (problems.length === 0) return
  const message = 'The points are written, but not the metadata of all tags'
  throw new CommandError(joinErrors(message, sentencesOf(problems)), EXIT.partly, cause)
}
