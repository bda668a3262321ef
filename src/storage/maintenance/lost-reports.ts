import { join } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'
import { systemClock } from '../clock.ts'
import { type Files, readFile } from '../files/files.ts'
import { reasonOf } from '../files/refusals.ts'
import { tokenText } from '../ownership/ownership.ts'
import { formatLostReport, type LostReport, parseLostReport } from './lost-report.ts'
import { ASIDE } from './set-aside.ts'

/** Named by the token of the repair, and by a number more where there is one of that name. */
const NAME = /^repair-([0-9a-f]{8})(?:-\d+)?\.txt$/

/** Ends the name of a report until a repair has told it and come to its end. */
const UNTOLD = '.new'

/** What is said where there is no report. */
export const unwritten = (error: unknown) =>
  `what is lost could not be written to the folder ${ASIDE} (${reasonOf(error)}): it is told here alone`

/** What a repair knows of the manifests that it found. */
export interface ManifestsFound {
  /** Token of the newest one by its name; 0 for none. */
  readonly token: number
  /** Whether it can be read, and counts. */
  readonly isSound: boolean
}

/**
 * Reports of what repairs could not keep, in the folder of what they set aside. A repair has its own one on disk, as
 * `repair-<token>.txt.new`, before it changes anything by which the next repair would find the same. Its last step,
 * when all is told, takes `.new` from the name, and the report stays for people. A repair that finds one with `.new`
 * tells what it says, too. Nothing that the system refuses here stops a repair: it is told in `left`.
 */
export class LostReports {
  /** What earlier repairs say that did not end. */
  readonly earlier: LostReport
  /** Whether there was such a repair, or may have been one. */
  readonly hasEarlier: boolean
  /** What could not be done, one sentence each. */
  readonly left: string[] = []
  readonly #files: Files
  readonly #folder: string
  readonly #found: ManifestsFound
  /** Names, without `.new`, of the reports that have what this repair tells. */
  readonly #names: string[] = []
  /** The one of this repair. */
  #own: string | null = null

  /** Reads those of earlier repairs. @param root  folder of the historian */
  constructor(files: Files, root: string, found: ManifestsFound) {
    this.#files = files
    this.#folder = join(root, ASIDE)
    this.#found = found
    const reports = this.#untold().flatMap((name) => this.#read(name) ?? [])
    this.earlier = {
      lost: [...new Set(reports.flatMap(({ lost }) => lost))],
      unknown: [...new Set(reports.flatMap(({ unknown }) => unknown))],
      isLogAnew: reports.some(({ isLogAnew }) => isLogAnew),
    }
    this.hasEarlier = this.#names.length > 0 || this.left.length > 0
  }

  /** Names of the reports that have what is told, as they are at the end. */
  get names(): readonly string[] {
    return this.#names
  }

  /**
   * Writes the report of this repair, durably, where something is lost, or not known, that those of earlier ones do not
   * say.
   * @param token  of the owner that repairs
   */
  write(historian: string, token: number, report: LostReport): void {
    const lost = notSaidBefore(report.lost, this.earlier.lost)
    const unknown = notSaidBefore(report.unknown, this.earlier.unknown)
    if (lost.length === 0 && unknown.length === 0) return
    const text = Buffer.from(formatLostReport(historian, systemClock(), { ...report, lost, unknown }))
    let path: string | null = null
    try {
      this.#files.makeFolder(this.#folder)
      const name = this.#freeName(token)
      path = join(this.#folder, name + UNTOLD)
      this.#create(path, text)
      this.#names.push(name)
      this.#own = name
    } catch (error) {
      if (systemCode(error) === '') throw error
      if (path !== null) this.#try(() => this.#files.remove(path!))
      this.left.push(unwritten(error))
    }
  }

  /** What is told: what earlier repairs say, and what this one says beside it. */
  withEarlier({ lost, unknown }: Pick<LostReport, 'lost' | 'unknown'>): Pick<LostReport, 'lost' | 'unknown'> {
    const { earlier } = this
    return {
      lost: [...earlier.lost, ...notSaidBefore(lost, earlier.lost)],
      unknown: [...earlier.unknown, ...notSaidBefore(unknown, earlier.unknown)],
    }
  }

  /**
   * Takes back the report of this repair, which came to no manifest: so all that it found is there. Without a manifest
   * it stays: what is there by then is not what was found.
   * @returns whether there was one
   */
  withdraw(): boolean {
    const own = this.#own
    if (own === null || !this.#found.isSound) return false
    this.#try(() => this.#files.remove(join(this.#folder, own + UNTOLD)))
    this.#own = null
    this.#names.splice(this.#names.indexOf(own), 1)
    return true
  }

  /** All is told. What cannot get its name is told by the next repair again. */
  end(): void {
    for (const name of this.#names) {
      this.#try(() => this.#files.rename(join(this.#folder, name + UNTOLD), join(this.#folder, name)))
    }
    if (this.#names.length > 0) this.#try(() => this.#files.syncFolder(this.#folder))
  }

  /** Names, without `.new`, of those that earlier repairs left. */
  #untold(): readonly string[] {
    try {
      return this.#files
        .list(this.#folder)
        .filter((name) => name.endsWith(UNTOLD))
        .map((name) => name.slice(0, -UNTOLD.length))
        .filter((name) => NAME.test(name))
    } catch (error) {
      if (systemCode(error) === '') throw error
      this.left.push(
        `the folder ${ASIDE} cannot be searched for what earlier repairs did not tell: ${reasonOf(error)}`,
      )
      return []
    }
  }

  /** `null` for one that says nothing. */
  #read(name: string): LostReport | null {
    const path = join(this.#folder, name + UNTOLD)
    let report: LostReport | null
    try {
      report = parseLostReport(Buffer.from(readFile(this.#files, path)).toString())
    } catch (error) {
      if (systemCode(error) === '') throw error
      this.left.push(`the report ${name}${UNTOLD} of an earlier repair cannot be read: ${reasonOf(error)}`)
      return null
    }
    if (this.#mayHaveCounted(Number.parseInt(NAME.exec(name)![1]!, 16), report !== null)) {
      this.#names.push(name)
      if (report === null) this.left.push(`the report ${name} of an earlier repair is damaged`)
      return report
    }
    // It came to no manifest: all that it found is there, and found again.
    this.#try(() => this.#files.remove(path))
    return null
  }

  /** Whether a repair with a token may have come to a manifest, or have moved files without one. */
  #mayHaveCounted(token: number, isWhole: boolean): boolean {
    return token <= this.#found.token || (isWhole && !this.#found.isSound)
  }

  #freeName(token: number): string {
    for (let number = 1; ; number++) {
      const name = `repair-${tokenText(token)}${number === 1 ? '' : `-${number}`}.txt`
      const isThere = [name, name + UNTOLD].some((one) => this.#files.exists(join(this.#folder, one)))
      if (!isThere) return name
    }
  }

  #create(path: string, text: Uint8Array): void {
    const file = this.#files.create(path)
    try {
      file.writeNow(text, 0)
      file.syncNow()
    } finally {
      file.close()
    }
    this.#files.syncFolder(this.#folder)
  }

  /** Leaves out what the system refuses. */
  #try(action: () => void): void {
    try {
      action()
    } catch (error) {
      if (systemCode(error) === '') throw error
    }
  }
}

/** Without what earlier ones say in the same words, also with a reason behind them. */
function notSaidBefore(sentences: readonly string[], earlier: readonly string[]): readonly string[] {
  const said = new Set<string>()
  for (const what of earlier) {
    said.add(what)
    for (let at = what.indexOf(': '); at >= 0; at = what.indexOf(': ', at + 1)) said.add(what.slice(0, at))
  }
  return [...new Set(sentences)].filter((what) => !said.has(what))
}
