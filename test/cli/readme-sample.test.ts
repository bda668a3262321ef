import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sampleCsv } from '../../scripts/sample-csv.ts'
import { PROJECT, temporaryFolder, tidemark } from './run.ts'

const SAMPLE = join(PROJECT, 'docs', 'samples', 'feed-tank.csv')

test('the sample of the README is what its script makes', () => {
  assert.equal(readFileSync(SAMPLE, 'utf8'), sampleCsv())
})

test('the commands of the README about the sample print what it shows', async () => {
  const readme = readFileSync(join(PROJECT, 'README.md'), 'utf8')
  const cwd = await temporaryFolder()
  const tour = readme.split('## Your own data')[1]!.split('\n## ')[0]!
  const steps = tour
    .split(/^\$ npm run -s tidemark -- /m)
    .slice(1)
    .map((step) => step.split('\n```')[0]!)
  assert.ok(steps.length >= 3, `${steps.length} steps`)
  for (const step of steps) {
    const [line = '', ...output] = step.replaceAll(' \\\n   ', '').split('\n')
    const words = [...line.replaceAll('docs/samples/feed-tank.csv', SAMPLE).matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, word]) => quoted ?? word!,
    )
    // In place instead of through the service of the tour, whose key a test does not have.
    const own = words.filter(
      (word, index) => !/^--(url|key)$/.test(word) && !/^--(url|key)$/.test(words[index - 1] ?? ''),
    )
    const { stdout, stderr } = await tidemark(own, { cwd })
    const withoutTime = (text: string) =>
      text.replace(/\(\d+\.\d s(?:, [\d,]+ points\/s)?\)/, '(0.1 s)').trim()
    assert.equal(withoutTime(stderr + stdout), withoutTime(output.join('\n')), line)
  }
})
