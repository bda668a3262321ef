import { EventEmitter, once } from 'node:events'
import type { CallContext, TagMetadata, WriteBatch } from '../../src/historian/contract.ts'
import { MemoryHistorian } from '../contract/memory-historian.ts'

/** A historian whose `findTags` and `write` wait until `release` is called or their call is cancelled. */
export class SlowHistorian extends MemoryHistorian {
  readonly #events = new EventEmitter()
  waiting = 0
  cancelled = 0
  closed = false

  /** Resolves when so many calls are waiting. */
  async reached(count: number): Promise<void> {
    while (this.waiting < count) await once(this.#events, 'change')
  }

  /** Resolves when so many calls were cancelled. */
  async reachedCancelled(count: number): Promise<void> {
    while (this.cancelled < count) await once(this.#events, 'change')
  }

  release(): void {
    this.#events.emit('release')
  }

  override async close(): Promise<void> {
    this.closed = true
  }

  override async findTags(
    names: readonly string[],
    context: CallContext,
  ): Promise<readonly (TagMetadata | null)[]> {
    await this.#wait(context)
    return super.findTags(names, context)
  }

  override async write(batch: WriteBatch, context: CallContext): Promise<void> {
    await this.#wait(context)
    return super.write(batch, context)
  }

  async #wait({ signal }: CallContext): Promise<void> {
    this.waiting++
    this.#events.emit('change')
    try {
      await once(this.#events, 'release', { signal })
    } catch {
      this.cancelled++
      this.#events.emit('change')
      throw signal.reason
    } finally {
      this.waiting--
    }
  }
}
