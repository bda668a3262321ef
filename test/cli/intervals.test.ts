import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder, tidemark } from './run.ts'

const ROWS = `time,PUMP,LEVEL
2026-01-15T10:00:00Z,1,5
2026-01-15T10:10:00Z,0,6
2026-01-15T10:11:00Z,1,9
2026-01-15T10:30:00Z,0,7
2026-01-15T11:30:00Z,1,8
`
const NOW = ['--now', '2026-01-15T12:00:00Z', '--zone', 'UTC']

describe('intervals and gaps on the command line', async () => {
  const cwd = await temporaryFolder()
  writeFileSync(join(cwd, 'data.csv'), ROWS)
  const imported = await tidemark(['import', 'data.csv', '--stepped', 'PUMP', '--zone', 'UTC'], { cwd })
  assert.equal(imported.code, 0, imported.stderr)
  const run = (...args: string[]) => tidemark([...args, ...NOW], { cwd })

  it('lists when a tag was not 0, how long, and what another one was like then', async () => {
    const { code, stdout, stderr } = await run(
      ...['intervals', 'local/PUMP', '--from', 'today at 10:00', '--merge-within', '1m'],
      ...['--aggregates-of', 'local/LEVEL', '--aggregates', 'max,count'],
    )
    assert.equal(code, 0, stderr)
    assert.equal(
      stdout,
      `tag         from                      to                         length  open  max  count
local/PUMP  2026-01-15T10:00:00.000Z  2026-01-15T10:30:00.000Z  0:30:00          9      3
local/PUMP  2026-01-15T11:30:00.000Z  2026-01-15T12:00:00.000Z  0:30:00  end     8      1
`,
    )
  })

  it('ends intervals where values are no longer good', async () => {
    const { stdout } = await run(
      'intervals',
      'local/PUMP',
      '--from',
      'today at 10:00',
      '--max-gap',
      '5m',
      '--csv',
    )
    assert.deepEqual(
      stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(',').slice(1, 4).join(' ')),
      [
        '2026-01-15T10:00:00.000Z 2026-01-15T10:05:00.000Z 300',
        '2026-01-15T10:11:00.000Z 2026-01-15T10:16:00.000Z 300',
        '2026-01-15T11:30:00.000Z 2026-01-15T11:35:00.000Z 300',
      ],
    )
  })

  it('prints what a chart needs, and says where that is interpolated', async () => {
    const chart = await run(
      'query',
      'local/LEVEL',
      '--from',
      'today at 10:00',
      '--to',
      'today at 11:30',
      '--width',
      '1',
    )
    assert.equal(
      chart.stdout,
      `time                      local/LEVEL
2026-01-15T10:00:00.000Z            5
2026-01-15T10:11:00.000Z            9
2026-01-15T10:30:00.000Z            7
2026-01-15T11:30:00.000Z            8
`,
    )
    const long = ['--from', '1900-01-01', '--to', '2000-01-01', '--width', '3', '--fallback', 'interpolated']
    const { code, stdout, stderr } = await run('query', 'siggen/sin10@60', ...long)
    assert.equal(code, 0, stderr)
    assert.equal(stdout.trimEnd().split('\n').length, 4)
    assert.match(
      stderr,
      /^siggen\/sin10@60: the raw points are too many for a chart; these are interpolated$/m,
    )
  })

  it('tells how long a tag was in each of its states then', async () => {
    const states = ['--states', '5=Low', '--states', '6=High']
    assert.equal((await tidemark(['tags', 'describe', 'local/LEVEL', ...states], { cwd })).code, 0)
    const { code, stdout, stderr } = await run(
      ...['intervals', 'local/PUMP', '--from', 'today at 10:00', '--to', 'today at 11:00'],
      ...['--merge-within', '1m', '--aggregates-of', 'local/LEVEL', '--aggregates', 'states'],
    )
    assert.equal(code, 0, stderr)
    const times = 'Low 600 s, 1 visit; High 60 s, 1 visit; other 1140 s, 1 visit'
    assert.equal(stdout.split('\n')[1]!.slice(-times.length), times)
    const query = await run(
      ...[
        'query',
        'local/LEVEL',
        'local/PUMP',
        '--from',
        'today at 10:30',
        '--aggregates',
        'states',
        '--csv',
      ],
    )
    const range = '2026-01-15T10:30:00.000Z,2026-01-15T12:00:00.000Z'
    assert.equal(
      query.stdout,
      `tag,from,to,states\nlocal/LEVEL,${range},"other 5400 s, 1 visit"\nlocal/PUMP,${range},\n`,
    )
  })

  it('leaves out short ones, and says that there are more', async () => {
    const from = ['--from', '2026-01-15T10:00:00Z']
    const long = await run('intervals', 'local/PUMP', ...from, '--min-duration', '15m')
    assert.deepEqual(long.stdout.match(/ \d:\d\d:\d\d/g), [' 0:19:00', ' 0:30:00'])
    const first = await run('intervals', 'local/PUMP', ...from, '--max-intervals', '1')
    assert.match(first.stderr, /there are more; see --max-intervals/)
    assert.equal(first.stdout.split('\n').length, 3)
  })

  it('lists gaps', async () => {
    const { code, stdout } = await run(
      'gaps',
      'local/LEVEL',
      '--from',
      'today at 10:00',
      '--longer-than',
      '20m',
    )
    assert.equal(code, 0)
    assert.equal(
      stdout,
      `tag          from                      to                         length  kind
local/LEVEL  2026-01-15T10:30:00.000Z  2026-01-15T11:30:00.000Z  1:00:00  missing
local/LEVEL  2026-01-15T11:30:00.000Z  2026-01-15T12:00:00.000Z  0:30:00  missing
`,
    )
  })

  it('prints CSV with lengths in seconds, local times and decimal commas, for another program', async () => {
    const runs = await tidemark(
      [
        ...['intervals', 'local/PUMP', '--from', 'today at 11:00', '--now', NOW[1]!, '--merge-within', '1m'],
        ...['--aggregates-of', 'local/LEVEL', '--aggregates', 'MAX,avg,maxTime', '--csv', '--decimal-comma'],
        ...['--time-format', 'dd.MM.yyyy HH:mm', '--zone', 'Europe/Berlin'],
      ],
      { cwd },
    )
    assert.equal(runs.code, 0, runs.stderr)
    assert.equal(
      runs.stdout,
      `tag;from;to;seconds;open;max;avg;maxTime
local/PUMP;15.01.2026 11:00;15.01.2026 11:30;1800;;9;6,666666666666667;15.01.2026 11:11
local/PUMP;15.01.2026 12:30;15.01.2026 13:00;1800;end;8;8;15.01.2026 12:30
`,
    )
    const gaps = await run(
      ...['gaps', 'local/LEVEL', '--from', '2026-01-15T10:00:00.25Z', '--to', '2026-01-15T10:10:00Z'],
      ...['--longer-than', '5m', '--csv', '--separator', 'tab'],
    )
    assert.deepEqual(gaps.stdout.split('\n')[1]!.split('\t').slice(3), ['599.75', 'missing'])
  })

  it('prints no text of its own into JSON, and a table of one header where nothing was found', async () => {
    const range = ['--from', 'today at 10:00', '--to', 'today at 11:00']
    const json = await run('gaps', 'local/LEVEL', ...range, '--longer-than', '20m', '--json')
    const { results } = JSON.parse(json.stdout) as {
      readonly results: Record<string, { intervals: unknown[] }>
    }
    assert.equal(results['local/LEVEL']!.intervals.length, 1)
    const none = await run(
      ...['intervals', 'calc/THRESHOLD(local/LEVEL, 99, 1, 0)', ...range],
      ...['--aggregates-of', 'local/LEVEL', '--aggregates', 'MINTIME,max', '--csv'],
    )
    assert.deepEqual([none.code, none.stdout], [0, 'tag,from,to,seconds,open,minTime,max\n'])
  })

  it('refuses output options that contradict each other before anything is read', async () => {
    const range = ['gaps', 'local/LEVEL', '--from', 'today', '--longer-than', '20m']
    const cases = [
      [['--json', '--csv'], /--csv would be ignored by --json/],
      [['--explain', '--csv'], /--csv would be ignored by --explain, which prints the cost as JSON/],
      [['--explain', '--json', '--decimal-comma'], /--decimal-comma would be ignored by --explain/],
      [['--separator', ';'], /--separator is for --csv/],
      [['--time-format', 'HH:mm'], /the year is missing/],
    ] as const
    for (const [options, sentence] of cases) {
      const refused = await run(...range, ...options)
      assert.deepEqual([refused.code, refused.stdout], [2, ''])
      assert.match(refused.stderr, sentence)
    }
  })

  it('refuses the same for a query, and columns of a table beside JSON', async () => {
    const cases = [
      [['--explain', '--csv'], /^--csv would be ignored by --explain/],
      [['--explain', '--wide'], /^--wide would be ignored by --explain/],
      [['--json', '--wide'], /^--wide would be ignored by --json/],
    ] as const
    for (const [options, sentence] of cases) {
      const refused = await run('query', 'local/LEVEL', ...options)
      assert.deepEqual([refused.code, refused.stdout], [2, ''])
      assert.match(refused.stderr, sentence)
    }
    const cost = await run('query', 'local/LEVEL', '--explain', '--json')
    assert.equal(cost.code, 0)
    assert.equal(JSON.parse(cost.stdout).explain.allowed, true)
  })

  it('refuses options that would be ignored, and asks for those that are needed', async () => {
    const ignored = await run('intervals', 'local/PUMP', '--from', 'today at 10:00', '--aggregates', 'max')
    assert.deepEqual([ignored.code, ignored.stdout], [2, ''])
    assert.match(ignored.stderr, /--aggregates-of/)
    const missing = await run('gaps', 'local/PUMP', '--from', 'today at 10:00')
    assert.equal(missing.code, 2)
    assert.match(missing.stderr, /--longer-than/)
    const unknown = await run('gaps', 'local/NONE', '--from', 'today at 10:00', '--longer-than', '1m')
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /Tag local\/NONE does not exist/)
  })
})
