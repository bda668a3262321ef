import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder, tidemark } from './run.ts'

const FILE = `# exported by the control system
# 2 tags
timestamp;P1.FLOW;P1.TEMP
;[m3/h];[degC]
25.10.2026 01:30;1,5;20
25.10.2026 02:00;2;Bad Input
25.10.2026 02:00;3;22
# a note
25-Oct-2026 03:00;4;24
25.10.2026 03:00;5;24
`

test('a file as it is: comments, units, texts of BAD points, the doubled hour, duplicates', async () => {
  const cwd = await temporaryFolder()
  const options = ['--zone', 'Europe/Oslo', '--decimal-comma', '--bad-values', 'Bad Input,No Data']
  const importing = (...more: string[]) =>
    tidemark(['import', '-', ...options, ...more], { cwd, input: FILE })
  const dry = await importing('--dry-run')
  assert.equal(dry.code, 0, dry.stderr)
  const told = `Line 4 was taken as units: P1.FLOW in m3/h, P1.TEMP in degC
3 comment rows passed over
2 points with the time of an earlier one of the same tag: the last one counts
`
  assert.equal(dry.stderr, told)
  assert.equal(
    dry.stdout,
    `10 points of 2 tags in 5 rows: nothing was written (--dry-run)
tag            time                           value  status
local/P1.FLOW  2026-10-25T01:30:00.000+02:00    1.5  OK
local/P1.TEMP  2026-10-25T01:30:00.000+02:00     20  OK
local/P1.FLOW  2026-10-25T02:00:00.000+02:00      2  OK
local/P1.TEMP  2026-10-25T02:00:00.000+02:00      0  BAD
local/P1.FLOW  2026-10-25T02:00:00.000+01:00      3  OK
local/P1.TEMP  2026-10-25T02:00:00.000+01:00     22  OK
local/P1.FLOW  2026-10-25T03:00:00.000+01:00      4  OK
local/P1.TEMP  2026-10-25T03:00:00.000+01:00     24  OK
local/P1.FLOW  2026-10-25T03:00:00.000+01:00      5  OK
local/P1.TEMP  2026-10-25T03:00:00.000+01:00     24  OK
`,
  )
  assert.equal((await importing()).stderr, told)
  const stored = await tidemark(['export', 'local/P1.FLOW', '--zone', 'UTC', '--format', 'wide', '--names'], {
    cwd,
  })
  assert.equal(
    stored.stdout,
    `timestamp,P1.FLOW
2026-10-24T23:30:00.000Z,1.5
2026-10-25T00:00:00.000Z,2
2026-10-25T01:00:00.000Z,3
2026-10-25T02:00:00.000Z,5
`,
  )
  const list = await tidemark(['tags', 'list', '--csv'], { cwd })
  assert.equal(list.stdout, 'tag,units,stepped,description\nlocal/P1.FLOW,m3/h,,\nlocal/P1.TEMP,degC,,\n')
  const wrong = await tidemark(['import', '-'], { cwd, input: 'time,a\n22/04/2026 10:00,1\n' })
  assert.match(
    wrong.stderr,
    /^line 2: "22\/04\/2026 10:00" is no time; --time-format 'dd\/MM\/yyyy HH:mm' would fit\n/,
  )
})

test('an import that goes on with a later line has the units of the file', async () => {
  const cwd = await temporaryFolder()
  const input = 'time;FLOW\n;[m3/h]\n2026-01-01;1\n2026-01-02;2\n'
  const done = await tidemark(['import', '-', '--from-line', '4', '--zone', 'UTC'], { cwd, input })
  assert.deepEqual([done.code, done.stderr], [0, 'Line 2 was taken as units: FLOW in m3/h\n'])
  assert.match(done.stdout, /^Imported 1 point of 1 tag in 1 row /)
  const list = await tidemark(['tags', 'list', '--csv'], { cwd })
  assert.equal(list.stdout, 'tag,units,stepped,description\nlocal/FLOW,m3/h,,\n')
})
