import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Layout, type LayoutSettings, layoutProblem, type SeriesField, seriesProblem } from './layout.ts'

const settings = (tagName: string, tags: Readonly<Record<string, string>> = {}): LayoutSettings => ({
  tagName,
  measurement: 'plant',
  field: 'value',
  tags,
})

test('a name is cut at the texts of the template, the last part taking the rest', () => {
  const layout = new Layout(settings('{measurement}/{device}.{field}', { site: 'oslo' }))
  assert.deepEqual(layout.parse('pumps/P-101.speed.max'), {
    measurement: 'pumps',
    field: 'speed.max',
    tags: [
      ['device', 'P-101'],
      ['site', 'oslo'],
    ],
  })
  for (const name of ['pumps', 'pumps/', 'pumps/P-101', '/P.f', 'pumps/.f', 'pumps/P.']) {
    assert.equal(layout.parse(name), null, name)
  }
  assert.deepEqual(new Layout(settings('{tag}')).parse('a/b'), {
    measurement: 'plant',
    field: 'value',
    tags: [['tag', 'a/b']],
  })
  assert.deepEqual(new Layout(settings('<{device}>')).parse('<a>b>')?.tags, [['device', 'a>b']])
  assert.equal(new Layout(settings('<{device}>')).parse('<>'), null)
})

test('a series has a name only when the name leads back to it', () => {
  const layout = new Layout(settings('{area}.{device}', { site: 'oslo' }))
  const series = (tags: Readonly<Record<string, string>>, measurement = 'plant', field = 'value') => ({
    measurement,
    field,
    tags: Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1)),
  })
  assert.equal(layout.format(series({ area: 'A', device: 'D.1', site: 'oslo' })), 'A.D.1')
  // Cut at its first point this name would be another series.
  assert.equal(layout.format(series({ area: 'A.D', device: '1', site: 'oslo' })), null)
  assert.equal(layout.format(series({ area: 'A', device: 'D', site: 'bergen' })), null)
  assert.equal(layout.format(series({ area: 'A', device: 'D' })), null)
  assert.equal(layout.format(series({ area: 'A', device: 'D', host: 'x', site: 'oslo' })), null)
  assert.equal(layout.format(series({ area: 'A', device: 'D', site: 'oslo' }, 'other')), null)
  assert.equal(layout.format(series({ area: 'A', device: 'D', site: 'oslo' }, 'plant', 'other')), null)
})

test('names and series of any text map to each other and back', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '/', '.', '\\', ' ', 'é', '{'), maxLength: 8 })
  fc.assert(
    fc.property(
      fc.constantFrom('{tag}', '{measurement}/{tag}', '{a}.{b}/{field}', 'x/{a}/y'),
      text,
      text,
      (template, first, second) => {
        const layout = new Layout(settings(template))
        const name = `${first}/${second}`
        const series = layout.parse(name)
        if (series !== null) assert.equal(layout.format(series), name)
        const made: SeriesField = { measurement: first, field: second, tags: [['tag', second]] }
        const back = layout.format(made)
        if (back !== null) assert.deepEqual(layout.parse(back), made)
      },
    ),
  )
})

test('a template that cannot name series is refused with what is expected', () => {
  assert.equal(layoutProblem(settings('{measurement}/{device}/{field}', { site: 'oslo' })), null)
  for (const template of ['', 'plant', '{a}{b}', '{a}/{a}', '{a', 'a}', '{}', '{a}/{site}', '{a\\}']) {
    assert.notEqual(layoutProblem(settings(template, { site: 'oslo' })), null, template)
  }
  assert.notEqual(layoutProblem(settings('{tag}', { field: 'x' })), null)
})

const KEPT = { measurement: 'tidemark_tags', statusField: 'status' }

test('a tag that no line could name is reported', () => {
  const layout = new Layout(settings('{tag}'))
  const problem = (name: string) => seriesProblem(layout.parse(name)!, KEPT)
  assert.equal(problem("it's, = \\ fine"), null)
  assert.match(problem('ends in \\')!, /backslash/)
  const other = (measurement: string, field: string) => seriesProblem({ measurement, field, tags: [] }, KEPT)
  assert.match(other('tidemark_tags', 'value')!, /where Tidemark keeps the metadata/)
  assert.match(other('plant', 'status')!, /field of the status/)
  assert.match(other('plant', 'time')!, /keeps the name time to itself/)
})
