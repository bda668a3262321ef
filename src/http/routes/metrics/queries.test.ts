import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryHistorian } from '../../../../test/contract/memory-historian.ts'
import { QueryMeter } from '../../../historian/remote/meter.ts'
import { printQueries, queriesOf, splitQueries } from './queries.ts'

const meters = new Map(['here', 'there', 'quiet'].map((name) => [name, new QueryMeter()]))
meters.get('here')!.sent('read', 3)
meters.get('here')!.failed('read')
meters.get('there')!.sent('read', 4)
meters.get('there')!.sent('write')
const historians = [...meters.keys(), 'no meter'].map((name) => new MemoryHistorian(name))

const print = async (mayName: (name: string) => boolean) =>
  (await printQueries(historians, [queriesOf(meters)], mayName))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

test('queries are counted by historian and kind for who may name the historian', async () => {
  assert.deepEqual(await print((name) => name === 'here'), [
    'tidemark_historian_queries_total{historian="here",type="memory",kind="read"} 3',
    'tidemark_historian_queries_total{historian="",type="memory",kind="read"} 4',
    'tidemark_historian_queries_total{historian="",type="memory",kind="write"} 1',
    'tidemark_historian_query_failures_total{historian="here",type="memory",kind="read"} 1',
    'tidemark_historian_query_failures_total{historian="",type="memory",kind="read"} 0',
    'tidemark_historian_query_failures_total{historian="",type="memory",kind="write"} 0',
  ])
})

test('and together by type for anybody else', async () => {
  const lines = await print(() => false)
  assert.ok(
    lines.includes('tidemark_historian_queries_total{historian="",type="memory",kind="read"} 7'),
    lines.join('\n'),
  )
  assert.doesNotMatch(lines.join('\n'), /here/)
})

test('what other processes sent is added up', async () => {
  const other = JSON.parse(JSON.stringify(queriesOf(meters)))
  const metric = { name: 'some_metric', values: [] }
  const { metrics, queries } = splitQueries([[metric, other], [metric]])
  assert.deepEqual(metrics, [[metric], [metric]])
  const text = await printQueries(historians, [queriesOf(meters), ...queries], () => true)
  assert.match(text, /^tidemark_historian_queries_total\{historian="here",type="memory",kind="read"\} 6$/m)
})
