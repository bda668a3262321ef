import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PROJECT, temporaryFolder, tidemark } from './run.ts'

const page = readFileSync(join(PROJECT, 'docs', 'command-line.md'), 'utf8')

/** The words of a command line as a shell reads these: blanks part them, single quotes keep them together. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!)
}

test('the transcripts of docs/command-line.md are what the commands print', async () => {
  const cwd = await temporaryFolder()
  const steps = [...page.matchAll(/^```transcript\n(.*?)^```$/gms)].flatMap(([, text]) =>
    text!.split(/^\$ tidemark /m).slice(1),
  )
  assert.ok(steps.length >= 10, `${steps.length} steps`)
  for (const step of steps) {
    const [line = '', ...output] = step.split('\n')
    const { stdout, stderr } = await tidemark(wordsOf(line), { cwd })
    assert.equal(stdout + stderr, output.join('\n'), line)
  }
})
