import { writeBatch } from '../../src/historian/write-batch.ts'
import { historianDirectory } from '../../src/storage/directory/data-directory.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { expect, type Measurement, measure } from '../measure.ts'
import { memoryOf, startService } from '../service.ts'
import { atOneHertz, randomWalk, START, signal } from '../storage/plant.ts'

/**
 * The same reads on more and more stored points, over HTTP, and the memory of a service that does nothing else: neither
 * should grow with what is stored. SCALE_POINTS takes other sizes.
 */
const SIZES = (process.env.SCALE_POINTS ?? '1000000,10000000,100000000').split(',').map(Number)
const TAGS = 10
const POINTS_PER_WRITE = 250_000

const results: Measurement[] = []
for (const points of SIZES) {
  const service = await startService({ TIDEMARK_HISTORIAN_LOAD: '1000000' }, (dataDir) =>
    fill(dataDir, points),
  )
  try {
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const idle = memoryOf(service.pid)
    const size = `${points / 1e6}M`
    const ask = async (
      name: string,
      requests: object,
      count: (results: Results) => number,
      items: number,
    ) => {
      const body = JSON.stringify({ requests, format: 'columns' })
      const task = async () => {
        const answer = JSON.parse((await service.post('/historian/multi', body)).toString())
        expect(count(answer.results) === items, `${name} of ${size}: ${JSON.stringify(answer).slice(0, 500)}`)
      }
      results.push(await measure(`scale/${size}/${name}`, task, { warmUps: 30, runs: 200, items }))
    }
    const each = points / TAGS
    const middle = START / 1000 + Math.floor(each / 2) * 1000
    const end = START / 1000 + each * 1000
    const ofAll = (request: object) =>
      Object.fromEntries(names().map((tag) => [tag, { ...request, tag: `local/${tag}` }]))
    await ask('current-10-tags', ofAll({ type: 'CURRENT_POINT' }), (found) => Object.keys(found).length, TAGS)
    await ask(
      'raw-10000-points',
      {
        a: {
          type: 'RAW_POINTS',
          tag: 'local/T3',
          details: { from: middle, to: middle + 1e7, maxPoints: 10_000 },
        },
      },
      (found) => found.a!.dataPoints!.values.length,
      10_000,
    )
    await ask(
      'interpolated-10-tags-x-100',
      ofAll({ type: 'INTERPOLATED_POINTS', details: { from: middle - 5e6, to: middle + 5e6, count: 100 } }),
      (found) => Object.values(found).reduce((sum, { dataPoints }) => sum + dataPoints!.values.length, 0),
      1_000,
    )
    const aggregates = ['COUNT', 'MIN', 'MAX', 'AVG', 'STDDEV', 'FIRST', 'LAST', 'TIMEAVG']
    await ask(
      'aggregates-of-all-points-of-a-tag',
      {
        a: {
          type: 'AGGREGATED_POINTS',
          tag: 'local/T3',
          details: { from: START / 1000, to: end, aggregates },
        },
      },
      (found) => found.a!.aggregates!.count[0]!,
      each,
    )
    const after = memoryOf(service.pid)
    results.push({
      name: `scale/${size}/memory`,
      runs: 1,
      medianMs: idle.anonymous,
      p99Ms: after.anonymous,
      items: null,
      note: `MB anonymous: idle ${idle.anonymous.toFixed(0)} (files ${idle.files.toFixed(0)}), after these reads ${after.anonymous.toFixed(0)} (files ${after.files.toFixed(0)})`,
    })
  } finally {
    await service.stop()
  }
}
process.stdout.write(JSON.stringify(results))

type Results = Readonly<
  Record<string, { readonly dataPoints?: { values: number[] }; readonly aggregates?: { count: number[] } }>
>

function names(): string[] {
  return Array.from({ length: TAGS }, (_, tag) => `T${tag}`)
}

async function fill(dataDir: string, points: number): Promise<void> {
  const folder = historianDirectory(dataDir, 'local')
  const store = await openFileStore(folder, { historian: 'local', owner: true })
  const each = points / TAGS
  for (const [seed, tag] of names().entries()) {
    const next = randomWalk(seed)
    for (let from = 0; from < each; from += POINTS_PER_WRITE) {
      const count = Math.min(POINTS_PER_WRITE, each - from)
      await store.write(
        writeBatch([{ tag, points: atOneHertz(from, count, () => next() / 1_000) }], true),
        signal,
      )
    }
  }
  await store.flush()
  await store.close()
}
