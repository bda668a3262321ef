import type { RetentionRule } from '../../src/storage/retention/rules.ts'

/** A point as it is stored. */
export interface ModelPoint {
  readonly value: number
  readonly isBad: boolean
}

interface ModelTag {
  readonly description: string | null
  readonly points: ReadonlyMap<number, ModelPoint>
}

/**
 * What is there of a historian, the obvious way. Immutable: each change gives the next one. What lies at or before the
 * watermark of its tag is gone at once, but for the newest point and the last good one.
 */
export class LifeModel {
  readonly tags: ReadonlyMap<string, ModelTag>
  /** By the pattern of their rules, in the order of these. */
  readonly watermarks: ReadonlyMap<string, number>

  constructor(
    tags: ReadonlyMap<string, ModelTag> = new Map(),
    watermarks: ReadonlyMap<string, number> = new Map(),
  ) {
    this.tags = tags
    this.watermarks = watermarks
  }

  watermarkOf(name: string): number {
    for (const [match, watermark] of this.watermarks) {
      if (name.startsWith(match.slice(0, -1))) return watermark
    }
    return Number.NEGATIVE_INFINITY
  }

  write(name: string, points: ReadonlyMap<number, ModelPoint>): LifeModel {
    const before = this.tags.get(name) ?? { description: null, points: new Map() }
    const watermark = this.watermarkOf(name)
    const taken = [...points].filter(([time]) => time > watermark)
    return this.#with(name, { ...before, points: new Map([...before.points, ...taken]) })
  }

  describe(name: string, description: string): LifeModel {
    const before = this.tags.get(name) ?? { points: new Map() }
    return this.#with(name, { ...before, description })
  }

  deletePoints(name: string, from: number, to: number): LifeModel {
    const before = this.tags.get(name)
    if (before === undefined) return this
    const points = new Map([...before.points].filter(([time]) => time < from || time >= to))
    return this.#with(name, { ...before, points })
  }

  drop(name: string): LifeModel {
    const tags = new Map(this.tags)
    tags.delete(name)
    return new LifeModel(tags, this.watermarks)
  }

  rename(from: string, to: string): LifeModel {
    const tag = this.tags.get(from)!
    return this.drop(from).#with(to, tag)
  }

  /** The rules count, those of the same pattern with the watermarks that they had, at a time. */
  retain(rules: readonly RetentionRule[], nowUs: number): LifeModel {
    const watermarks = rules.map(({ match, keep }) => {
      const before = this.watermarks.get(match) ?? Number.NEGATIVE_INFINITY
      const us = keep.kind === 'exact' ? keep.us : Number.NaN
      return [match, Math.max(before, nowUs - us)] as const
    })
    return new LifeModel(this.tags, new Map(watermarks)).#pruned()
  }

  /** As text: tags, descriptions and points. */
  get text(): string {
    const sorted = [...this.tags].sort(([a], [b]) => (a < b ? -1 : 1))
    return JSON.stringify(
      sorted.map(([name, { description, points }]) => [
        name,
        description,
        [...points].sort(([a], [b]) => a - b).map(([time, { value, isBad }]) => [time, value, isBad]),
      ]),
    )
  }

  #with(name: string, tag: ModelTag): LifeModel {
    return new LifeModel(new Map(this.tags).set(name, tag), this.watermarks).#pruned()
  }

  #pruned(): LifeModel {
    const tags = [...this.tags].map(([name, tag]) => {
      const watermark = this.watermarkOf(name)
      const old = [...tag.points.keys()].filter((time) => time <= watermark).sort((a, b) => a - b)
      const good = old.findLast((time) => !tag.points.get(time)!.isBad)
      const points = new Map(tag.points)
      for (const time of old) if (time !== old.at(-1) && time !== good) points.delete(time)
      return [name, { ...tag, points }] as const
    })
    return new LifeModel(new Map(tags), this.watermarks)
  }
}
