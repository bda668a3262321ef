import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { serve, temporaryFolder, tidemark } from './run.ts'

const LONG = `tag,timestamp,value,status
local/A,2026-01-01T00:00:00.000Z,1,OK
local/A,2026-01-01T00:00:00.000001Z,-2.5,OK
local/A,2026-01-01T00:01:00.000Z,0.30000000000000004,BAD
local/B/x y,1969-12-31T23:59:59.999999Z,1e+300,OK
local/B/x y,2026-01-01T00:00:00.000Z,7,OK
local/"q, ü",2026-01-01T00:00:00.000Z,1,OK
`.replace('local/"q, ü"', '"local/""q, ü"""')

describe('import and export', async () => {
  const cwd = await temporaryFolder()
  let folder = 0
  const fresh = () => ['--data-dir', `data${++folder}`]
  const importing = (data: readonly string[], input: string, ...options: string[]) =>
    tidemark(['import', '-', ...options, ...data], { cwd, input })
  const exporting = async (data: readonly string[], ...options: string[]) => {
    const { code, stdout, stderr } = await tidemark(['export', ...options, ...data], { cwd })
    assert.equal(code, 0, stderr)
    return stdout
  }

  it('the long form comes out as it went in, to the microsecond and the last bit', async () => {
    const data = fresh()
    const imported = await importing(data, LONG)
    assert.match(imported.stdout, /^Imported 6 points of 3 tags in 6 rows /, imported.stderr)
    const lines = LONG.trimEnd().split('\n')
    // Tags in the order of their names.
    const sorted = [lines[0], lines[6], ...lines.slice(1, 6)].join('\n')
    assert.equal(await exporting(data), `${sorted}\n`)
    assert.equal(await exporting(data, '--output', '-'), `${sorted}\n`)
  })

  it('metadata come out as JSON and go in again, with maxGap and states', async () => {
    const [data, copy] = [fresh(), fresh()]
    const run = async (args: readonly string[], on: readonly string[], input = '') => {
      const done = await tidemark([...args, ...on], { cwd, input })
      assert.equal(done.code, 0, done.stderr)
      return done.stdout
    }
    await importing(data, 'tag,time,value\nVALVE,2026-01-01,1\nFLOW,2026-01-01,2.5\n')
    const states = ['--states', '0=Closed', '--states', '1=Open']
    await run(['tags', 'describe', 'local/VALVE', ...states, '--description', 'Feed "valve", ü'], data)
    await run(['tags', 'describe', 'local/FLOW', '--max-gap', '90s', '--units', 'm3/h'], data)
    const listed = await run(['tags', 'list', '--json'], data)
    assert.match(listed, /"maxGap"/)
    assert.match(listed, /"Closed"/)
    assert.equal(await run(['tags', 'import', '-'], copy, listed), 'Imported the metadata of 2 tags.\n')
    assert.equal(await run(['tags', 'list', '--json'], copy), listed)
    // Points are imported beside it, and neither they nor the options about metadata take anything away.
    const points = await exporting(data)
    await importing(copy, points, '--units', 'FLOW=l/s', '--describe', 'VALVE=Feed')
    assert.equal(await exporting(copy), points)
    const [flow, valve] = JSON.parse(await run(['tags', 'list', '--json'], copy)) as Record<string, unknown>[]
    const before = JSON.parse(listed) as Record<string, unknown>[]
    assert.deepEqual(flow, { ...before[0], units: 'l/s' })
    assert.deepEqual(valve, { ...before[1], description: 'Feed' })
    // What the file does not have is cleared: the tags are as they were listed.
    await run(['tags', 'describe', 'local/FLOW', '--states', '2=On'], copy)
    await run(['tags', 'import', '-'], copy, listed)
    assert.equal(await run(['tags', 'list', '--json'], copy), listed)
  })

  it('a file that is no list of tags is refused with a sentence', async () => {
    const data = fresh()
    for (const [input, sentence] of [
      ['[', /^- is no JSON: a list is expected/],
      ['{}', /^- holds no list of tags/],
      ['[{"units":"m"}]', /^-: entry 1 has no qualifiedTagName/],
      ['[{"qualifiedTagName":"local/A","maxGap":"soon"}]', /Invalid maxGap soon for tag local\/A/],
      ['[{"qualifiedTagName":"nowhere/A"}]', /Historian nowhere for tag A does not exist/],
    ] as const) {
      const refused = await tidemark(['tags', 'import', '-', ...data], { cwd, input })
      assert.deepEqual([refused.code, refused.stdout], [1, ''])
      assert.match(refused.stderr, sentence)
    }
  })

  it('the wide form makes a tag of each column, and comes out merged by time', async () => {
    const data = fresh()
    const csv = 'time;Pump speed;flag;n\n2026-01-01 00:00;1,5;TRUE;\n2026-01-01 00:10;;false;3\n'
    const run = await importing(
      data,
      csv,
      '--decimal-comma',
      '--zone',
      'Europe/Oslo',
      '--prefix',
      'p.',
      '--stepped',
      'flag',
      '--units',
      'Pump speed=1/min',
      '--describe',
      'p.flag=A flag',
      '--rename',
      'n=count',
    )
    assert.match(run.stdout, /^Imported 4 points of 3 tags in 2 rows /, run.stderr)
    const wide = await exporting(
      data,
      '--format',
      'wide',
      '--decimal-comma',
      '--names',
      '--zone',
      'Europe/Oslo',
    )
    assert.equal(
      wide,
      'timestamp;p.Pump speed;p.count;p.flag\n2026-01-01T00:00:00.000+01:00;1,5;;1\n2026-01-01T00:10:00.000+01:00;;3;0\n',
    )
    const read = await tidemark(
      ['query', 'local/p.flag', '--at', '2026-01-01T00:09:59+01:00', '--json', ...data],
      { cwd },
    )
    const answer = JSON.parse(read.stdout) as { results: Record<string, { dataPoint: { value: number } }> }
    assert.equal(answer.results['local/p.flag']?.dataPoint.value, 1)
    // Metadata that an import does not name stays.
    const again = await importing(
      data,
      csv,
      '--decimal-comma',
      '--prefix',
      'p.',
      '--describe',
      'flag=Another',
    )
    assert.equal(again.code, 0, again.stderr)
    const service = await serve(data, { cwd })
    const tags = { tags: ['local/p.flag', 'local/p.Pump speed'] }
    const { body } = await service.post('/historian/metadata/get', tags)
    assert.deepEqual(body.entries, {
      'local/p.flag': { description: 'Another', units: null, stepped: true },
      'local/p.Pump speed': { description: null, units: '1/min', stepped: false },
    })
    await service.stop()
  })

  it('of points at one time the last one counts, and a second import changes nothing', async () => {
    const data = fresh()
    const csv = 'timestamp,a\n2026-01-01,1\n2026-01-02,2\n2026-01-01,3\n'
    await importing(data, csv, '--batch', '1')
    const once = await exporting(data)
    assert.equal(
      once,
      'tag,timestamp,value,status\nlocal/a,2026-01-01T00:00:00.000Z,3,OK\nlocal/a,2026-01-02T00:00:00.000Z,2,OK\n',
    )
    await importing(data, csv)
    assert.equal(await exporting(data), once)
  })

  it('bad rows are told with their lines, and end the import unless they may be skipped', async () => {
    const data = fresh()
    const csv = 'timestamp,a,b\n2026-01-01,1,1\n2026-01-02,x,2\nnever,3,3\n2026-01-04,4\n2026-01-05,5,5\n'
    const refused = await importing(data, csv)
    assert.equal(refused.code, 1)
    assert.equal(
      refused.stderr,
      'line 3: column "a": "x" is no number\nline 4: "never" is no time\nline 5: the row has 2 cells, and the header 3\n' +
        '3 problems in the file. Nothing was written; correct the file and run it again, or leave such rows out with --skip-bad\n',
    )
    assert.equal((await tidemark(['export', ...data], { cwd })).stderr, 'There are no such tags\n')
    const skipped = await importing(data, csv, '--skip-bad')
    assert.equal(skipped.code, 3)
    assert.match(skipped.stdout, /^Imported 5 points of 2 tags/)
    const stopped = await importing(fresh(), csv, '--batch', '2')
    assert.match(stopped.stderr, /Everything up to line 2 was written; correct/)
  })

  it('thousands of bad rows fill no screen', async () => {
    const rows = Array.from({ length: 5000 }, (_, index) => `2026-01-01,${'x'.repeat(index % 300)}!`)
    const { code, stderr } = await importing(fresh(), `timestamp,a\n${rows.join('\n')}\n`)
    assert.equal(code, 1)
    assert.ok(stderr.length < 6000, `${stderr.length}`)
    assert.match(stderr, /\nand 4980 more\n5,000 problems/)
  })

  it('understands other separators, times, encodings and texts for nothing', async () => {
    const data = fresh()
    const file = join(cwd, 'other.csv')
    const text = 'Zeit\tTemp °C\tx\n31.12.25 11:59:58 PM\t-1\tn/a\n01.01.26 12:00:00 AM\tn/a\t2\n'
    await writeFile(file, Buffer.from(text, 'latin1'))
    const options = ['--time-column', 'Zeit', '--time-format', 'dd.MM.yy hh:mm:ss a', '--empty', 'n/a']
    const undecoded = await tidemark(['import', file, ...options, ...data], { cwd })
    assert.match(undecoded.stderr, /not utf-8 text: say what it is with --encoding/)
    const run = await tidemark(['import', file, ...options, '--encoding', 'windows-1252', ...data], { cwd })
    assert.equal(run.code, 0, run.stderr)
    assert.equal(
      await exporting(data),
      'tag,timestamp,value,status\nlocal/Temp °C,2025-12-31T23:59:58.000Z,-1,OK\nlocal/x,2026-01-01T00:00:00.000Z,2,OK\n',
    )
    await writeFile(join(cwd, 'zipped.csv.gz'), gzipSync('timestamp,z\n2026-01-01,4\n'))
    assert.match(
      (await tidemark(['import', 'zipped.csv.gz', ...data], { cwd })).stdout,
      /^Imported 1 point of 1 tag/,
    )
    const pattern = await importing(data, 'timestamp,a\n', '--time-format', 'HH:mm')
    assert.equal(pattern.code, 2)
  })

  it('what cannot be done is refused before anything is written', async () => {
    const data = fresh()
    const cases: readonly [string, readonly string[], RegExp][] = [
      ['', [], /The file is empty/],
      ['timestamp\n', [], /no column of values/],
      ['timestamp,a,a\n', [], /Two columns are called a/],
      ['timestamp,a,\n', [], /Column 3 has no name/],
      ['timestamp,Flow\n', ['--columns', 'flow'], /there is no column flow; Flow was meant\?/],
      ['timestamp,a\n', ['--stepped', 'b'], /names b, which is no tag of this import/],
      ['timestamp,a\n', ['--historian', 'other'], /no writable historian other: there is local/],
      ['tag,value\n', ['--format', 'long'], /needs columns tag, timestamp and value/],
      ['timestamp,a\n"2026', [], /quote is not closed/],
    ]
    for (const [csv, options, expected] of cases) {
      const { code, stderr } = await importing(data, csv, ...options)
      assert.notEqual(code, 0)
      assert.match(stderr, expected)
    }
    const missing = await tidemark(['import', 'missing.csv', ...data], { cwd })
    assert.match(missing.stderr, /missing\.csv: there is no such file/)
    assert.match(
      (await importing(data, 'timestamp,a\n2026-01-01,1\n', '--dry-run')).stdout,
      /nothing was written/,
    )
    assert.equal((await tidemark(['export', ...data], { cwd })).stderr, 'There are no such tags\n')
  })

  it('export leaves the file as it is until there is something to write', async () => {
    const data = fresh()
    await importing(data, 'timestamp,a\n2026-01-01T00:00:00Z,1\n')
    const file = join(cwd, 'before.csv')
    const to = (...args: string[]) =>
      tidemark(['export', ...args, '--output', 'before.csv', ...data], { cwd })
    await writeFile(file, 'of before')
    const failing = [
      ['--match', 'none*'],
      ['local/none'],
      ['local/none', '--format', 'wide'],
      ['local/a', '--from', 'yesteday'],
    ]
    for (const args of failing) {
      assert.equal((await to(...args)).code, 1, args.join(' '))
      assert.equal(readFileSync(file, 'utf8'), 'of before', args.join(' '))
    }
    const empty = await to('local/a', '--from', '2027-01-01', '--format', 'wide')
    assert.equal(empty.code, 0, empty.stderr)
    assert.equal(readFileSync(file, 'utf8'), 'timestamp,local/a\n')
    assert.equal((await to('local/a', '--zone', 'UTC')).code, 0)
    assert.match(readFileSync(file, 'utf8'), /^tag,.*\nlocal\/a,2026-01-01T00:00:00\.000Z,1,OK\n$/)
    const noFolder = await tidemark(['export', '--output', 'none/x.csv', ...data], { cwd })
    assert.equal(noFolder.code, 1)
    assert.match(noFolder.stderr, /x\.csv: there is no such file or folder\n$/)
  })

  it('goes through a running service in pages, and is told to when the directory is in use', async () => {
    const data = fresh()
    await writeFile(join(cwd, 'small.yaml'), 'limits: {requestedPoints: 150, effectiveTags: 3}')
    const service = await serve(['--config', 'small.yaml', ...data], { cwd })
    const rows = Array.from({ length: 700 }, (_, row) => {
      const time = new Date(Date.UTC(2026, 0, 1) + row * 1000).toISOString()
      return `${time},${row},${row % 7 === 0 ? '' : row / 4},${row % 2},9,8`
    })
    await writeFile(join(cwd, 'pages.csv'), `timestamp,a,b,c,d,e\n${rows.join('\n')}\n`)

    const inUse = await tidemark(['import', 'pages.csv', ...data], { cwd })
    assert.equal(inUse.code, 1)
    assert.match(inUse.stderr, /is in use by a running tidemark.*--url/)
    const remote = { cwd, env: { TIDEMARK_URL: `${service.url}/`, TIDEMARK_KEY: service.writeKey } }
    const imported = await tidemark(['import', 'pages.csv', '--batch', '400'], remote)
    assert.match(imported.stdout, /^Imported 3,400 points of 5 tags in 700 rows/, imported.stderr)
    const wide = await tidemark(['export', '--format', 'wide', '--names', '--output', 'back.csv'], remote)
    assert.match(wide.stderr, /^Exported 3,400 points to back\.csv/)
    assert.equal(readFileSync(join(cwd, 'back.csv'), 'utf8'), readFileSync(join(cwd, 'pages.csv'), 'utf8'))
    const long = await tidemark(
      ['export', '--match', '?', '--from', '2026-01-01', '--to', '2026-01-01T00:10'],
      remote,
    )
    assert.equal(long.stdout.trimEnd().split('\n').length, 1 + 600 * 5 - Math.ceil(600 / 7))

    const read = { ...remote, env: { ...remote.env, TIDEMARK_KEY: service.readKey } }
    const forbidden = await tidemark(['import', 'pages.csv', '--historian', 'local'], read)
    assert.equal(forbidden.code, 1)
    assert.match(forbidden.stderr, /may only read/)
    const wrongKey = await tidemark(['export'], { ...remote, env: { ...remote.env, TIDEMARK_KEY: 'no' } })
    assert.match(wrongKey.stderr, /^The API key is not known/)
    await service.stop()
    const gone = await tidemark(['export'], remote)
    assert.equal(gone.code, 1)
    assert.match(gone.stderr, /cannot be reached: nothing listens there/)
  })

  it('query prints tables, and exit codes that tell what failed', async () => {
    const data = fresh()
    await importing(data, 'timestamp,a,b\n2026-01-01T00:00:00Z,0,5\n2026-01-01T00:00:10Z,1,5\n')
    const query = (...args: string[]) => tidemark(['query', ...args, ...data], { cwd })
    const grid = await query(
      'local/a',
      'calc/ADD(local/a, local/b)',
      '--from',
      '2026-01-01',
      '--to',
      '2026-01-01T00:00:10Z',
      '--count',
      '3',
    )
    assert.equal(
      grid.stdout,
      [
        'time                      local/a  calc/ADD(local/a, local/b)',
        '2026-01-01T00:00:00.000Z        0                           5',
        '2026-01-01T00:00:05.000Z      0.5                         5.5',
        '2026-01-01T00:00:10.000Z        1                           6',
        '',
      ].join('\n'),
    )
    const partly = await query('local/a', 'local/none')
    assert.equal(partly.code, 3)
    assert.match(partly.stdout, /^local\/a +2026-01-01T00:00:10\.000Z +1 +OK$/m)
    assert.equal(partly.stderr, 'Tag local/none does not exist\n')
    assert.equal((await query('local/none')).code, 1)
    const aggregates = await query(
      'local/a',
      '--from',
      '2026-01-01',
      '--to',
      '2026-01-02',
      '--aggregates',
      'count,avg',
    )
    assert.match(aggregates.stdout, /^tag +from +to +count +avg\nlocal\/a .* 2 +0\.5\n$/)
    assert.equal((await query('local/a', '--count', '3')).code, 2)
  })

  it('check and backup work beside a running service, and a backup is a data directory', async () => {
    const data = fresh()
    await importing(data, 'timestamp,a\n2026-01-01,1\n2026-01-02,2\n')
    const service = await serve(data, { cwd })
    const checked = await tidemark(['check', ...data], { cwd })
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(checked.stdout, /^local +1 +2 +good$/m)
    const backup = await tidemark(['backup', 'copied', ...data], { cwd })
    assert.equal(backup.code, 0, backup.stderr)
    assert.match(await exporting(['--data-dir', 'copied']), /local\/a,2026-01-02T00:00:00\.000Z,2,OK\n$/)
    assert.equal((await tidemark(['backup', 'copied', ...data], { cwd })).code, 1)
    await service.stop()
  })

  it('check and backup take historians with folders of their own along', async () => {
    const dataDir = fresh()[1]!
    const own = join(cwd, 'own-folder')
    const config = join(cwd, 'own-folder.yaml')
    await writeFile(
      config,
      `dataDir: ${dataDir}\nhistorians:\n  local: {type: embedded}\n  far: {type: embedded, path: ${own}}\n`,
    )
    const file = join(cwd, 'own-folder.csv')
    await writeFile(file, 'timestamp,a\n2026-01-01,1\n2026-01-02,2\n')
    const imported = await tidemark(['import', file, '--historian', 'far', '--config', config], { cwd })
    assert.equal(imported.code, 0, imported.stderr)
    const checked = await tidemark(['check', '--config', config], { cwd })
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(checked.stdout, /^far +1 +2 +good$/m)

    const copied = join(cwd, 'copied-own')
    const backup = await tidemark(['backup', copied, '--config', config], { cwd })
    assert.equal(backup.code, 0, backup.stderr)
    assert.match(
      backup.stdout,
      /^Copied \S+own-folder of historian far to \S+elsewhere\/far: restore it there$/m,
    )
    await writeFile(
      config,
      `dataDir: ${copied}\nhistorians:\n  far: {type: embedded, path: ${join(copied, 'elsewhere', 'far')}}\n`,
    )
    assert.match(await exporting(['--config', config]), /far\/a,2026-01-02T00:00:00\.000Z,2,OK\n$/)

    // A disk that is not there must not pass for one that is good, or for a copy.
    await rm(join(copied, 'elsewhere'), { recursive: true })
    assert.equal((await tidemark(['check', '--config', config], { cwd })).code, 4)
    assert.equal((await tidemark(['backup', 'copied-again', '--config', config], { cwd })).code, 1)
  })
})
