import assert from 'node:assert/strict'
import type { TagRange } from '../../src/historian/contract.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { concatColumns, makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { assertPoints, at, EVER, points, ramp } from './points.ts'
import type { Bench, Promised } from './subject.ts'

/** Points that are written by themselves; fewer with CONTRACT_SINGLES=n. */
const SINGLES = Number(process.env.CONTRACT_SINGLES ?? 250)

const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code

async function write({ historian, context }: Bench, tag: string, batch: PointColumns): Promise<void> {
  await historian.write(writeBatch([{ tag, points: batch }], true), context)
}

async function readAll({ historian, context }: Bench, tag: string): Promise<PointColumns> {
  const [result] = await historian.readRanges([{ tag, ...EVER, order: 'asc', limit: 1_000_000 }], context)
  return result!.points
}

const range = (tag: string, from: number, to: number): TagRange => ({ tag, from: at(from), to: at(to) })

export function declareChangePromises(promised: Promised): void {
  promised('a batch with a missing tag writes nothing unless tags are made', async (bench) => {
    const { historian, context } = bench
    if (historian.capabilities.atomicWrites !== 'request') return
    const [one, two] = [bench.tag(), bench.tag()]
    await write(bench, one, points([1, 1]))
    const batch = [
      { tag: one, points: points([2, 2]) },
      { tag: two, points: points([2, 2]) },
    ]
    await assert.rejects(historian.write(writeBatch(batch, false), context), hasCode('TAG_NOT_FOUND'))
    const withoutPoints = [batch[0]!, { tag: two, points: points() }]
    await assert.rejects(historian.write(writeBatch(withoutPoints, false), context), hasCode('TAG_NOT_FOUND'))
    assertPoints(await readAll(bench, one), points([1, 1]))
    assert.deepEqual(await historian.findTags([two], context), [null])
    await historian.write(writeBatch(batch, true), context)
    assertPoints(await readAll(bench, one), points([1, 1], [2, 2]))
    assertPoints(await readAll(bench, two), points([2, 2]))
  })

  promised('a tag without points is made, too', async (bench) => {
    const tag = bench.tag()
    await write(bench, tag, points())
    const [metadata] = await bench.historian.findTags([tag], bench.context)
    assert.deepEqual(metadata, { description: null, units: null, stepped: false })
  })

  promised('single points added one by one in any order are all there', async (bench) => {
    const up = bench.tag()
    const down = bench.tag()
    for (let i = 0; i < SINGLES; i++) {
      await Promise.all([
        write(bench, up, points([i * 10, i])),
        write(bench, down, points([(SINGLES - i) * 10, i])),
      ])
    }
    assertPoints(await readAll(bench, up), ramp(SINGLES, 0, 10))
    const fallen = makeColumns(SINGLES)
    for (let i = 0; i < SINGLES; i++) {
      fallen.times[i] = (i + 1) * 10
      fallen.values[i] = SINGLES - 1 - i
    }
    assertPoints(await readAll(bench, down), fallen)
  })

  promised('large batches between, before and over stored points merge', async (bench) => {
    const tag = bench.tag()
    const model = new Map<number, number>()
    const add = async (batch: PointColumns) => {
      batch.times.forEach((time, index) => {
        model.set(time, batch.values[index]!)
      })
      await write(bench, tag, batch)
    }
    await add(ramp(10_000, 1_000_000, 10))
    await add(ramp(10_000, 1_000_005, 10))
    await add(ramp(3_000, 0, 3))
    await add(ramp(20_000, 990_000, 7))
    await add(ramp(1, 500_000, 1))
    await add(ramp(9_000, 5_000_000, 1))
    await add(ramp(5_000, 1_050_001, 10))
    const expected = makeColumns(model.size)
    ;[...model.entries()]
      .sort((a, b) => a[0] - b[0])
      .forEach(([time, value], index) => {
        expected.times[index] = time
        expected.values[index] = value
      })
    assertPoints(await readAll(bench, tag), expected)
  })

  promised('an acknowledged write is there after the historian was opened again', async (bench) => {
    if (bench.reopen === null) return
    const tag = bench.tag()
    const written = concatColumns([ramp(6_000, 0, 5), points([100_000, 1, 1])])
    await write(bench, tag, written)
    await bench.historian.putTags(
      [{ name: tag, metadata: { description: 'kept', units: 'bar', stepped: true } }],
      'update',
      bench.context,
    )
    await bench.reopen()
    assertPoints(await readAll(bench, tag), written)
    const [metadata] = await bench.historian.findTags([tag], bench.context)
    assert.deepEqual(metadata, { description: 'kept', units: 'bar', stepped: true })
  })

  promised('concurrent readers see all of a request or nothing of it', async (bench) => {
    const { historian, context } = bench
    if (historian.capabilities.atomicWrites !== 'request') return
    const tags = [bench.tag(), bench.tag(), bench.tag()]
    let acknowledged = 0
    let done = false
    const writer = (async () => {
      for (let version = 1; version <= 60; version++) {
        const batch = ramp(50, 0, 1)
        batch.values.fill(version)
        await historian.write(
          writeBatch(
            tags.map((tag) => ({ tag, points: batch })),
            true,
          ),
          context,
        )
        acknowledged = version
      }
      done = true
    })()
    while (!done) {
      const before = acknowledged
      const results = await historian.readRanges(
        tags.map((tag) => ({ tag, ...EVER, order: 'asc', limit: 100 })),
        context,
      )
      const versions = new Set(results.flatMap((result) => [...result.points.values]))
      const counts = new Set(results.map((result) => result.points.times.length))
      assert.ok(versions.size <= 1, `versions ${[...versions]}`)
      assert.equal(counts.size, 1, `counts ${[...counts]}`)
      if (before > 0) assert.ok([...versions][0]! >= before, 'an acknowledged write is not seen')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await writer
  })

  promised('concurrent writers of the same and of different tags lose nothing', async (bench) => {
    const { historian, context } = bench
    const [shared, made] = [bench.tag(), bench.tag()]
    await Promise.all(
      Array.from({ length: 40 }, async (_, writer) => {
        for (let i = 0; i < 10; i++) {
          const time = (i * 40 + writer) * 10
          const own = `${made}-${writer}`
          const batch = [
            { tag: shared, points: points([time, writer]) },
            { tag: own, points: points([time, i]) },
          ]
          await historian.write(writeBatch(batch, true), context)
        }
      }),
    )
    const all = await readAll(bench, shared)
    assert.equal(all.times.length, 400)
    for (let writer = 0; writer < 40; writer++) {
      assert.equal((await readAll(bench, `${made}-${writer}`)).times.length, 10)
    }
  })

  promised(
    'the columns of a write are lent until it is answered, and take other points then',
    async (bench) => {
      const tags = [bench.tag(), bench.tag()]
      const lent = ramp(3_000, 0, 10)
      const written: number[] = []
      for (let round = 0; round < 4; round++) {
        lent.times.forEach((_, at) => {
          lent.times[at] = round * 1_000_000 + at * 10
        })
        lent.values.fill(round)
        const batch = { tags, offsets: Uint32Array.of(0, 2_950, 3_000), points: lent, createTags: true }
        await bench.historian.write(batch, bench.context)
        lent.times.fill(-1)
        lent.values.fill(-1)
        written.push(...Array(2_950).fill(round))
        if (round === 2) await bench.reopen?.()
        assert.deepEqual([...(await readAll(bench, tags[0]!)).values], written)
        assert.equal((await readAll(bench, tags[1]!)).times.length, 50 * (round + 1))
      }
    },
  )

  promised('a write that fails leaves the others of its time alone', async (bench) => {
    const { historian, context } = bench
    const tag = bench.tag()
    // Calls of the same time have no order: one that needs the tag may come before one that would make it.
    await write(bench, tag, points())
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => {
        const target = index % 3 === 0 ? bench.tag() : tag
        return historian.write(
          writeBatch([{ tag: target, points: points([index, index]) }], index === 1),
          context,
        )
      }),
    )
    const kept = outcomes.flatMap(({ status }, index) =>
      status === 'fulfilled' ? [[index, index] as const] : [],
    )
    assert.ok(outcomes.every(({ status }, index) => index % 3 !== 0 || status === 'rejected'))
    assert.ok(kept.length >= 10)
    assertPoints(await readAll(bench, tag), points(...kept))
  })

  promised('deleting points removes exactly the ranges and tells how many', async (bench) => {
    const { historian, context } = bench
    if (!historian.capabilities.deletePoints) return
    const tag = bench.tag()
    await write(bench, tag, ramp(10_000, 0, 10))
    const ranges = [
      range(tag, 10, 30),
      range(tag, 20, 50),
      range(tag, 50_000, 90_000),
      range(bench.tag(), 0, 99),
      range(tag, 60_000, 70_000),
    ]
    const expected = [2, 2, 4_000, 0, 0]
    assert.deepEqual(await historian.deletePoints!(ranges, true, context), expected)
    assert.equal((await readAll(bench, tag)).times.length, 10_000)
    assert.deepEqual(await historian.deletePoints!(ranges, false, context), expected)
    const left = await readAll(bench, tag)
    assert.equal(left.times.length, 10_000 - 4_004)
    assert.deepEqual([...left.times.slice(0, 3)], [0, 50, 60])
    assert.ok(left.times.every((time) => time < 50_000 || time >= 90_000))
    assert.deepEqual(await historian.deletePoints!(ranges, false, context), [0, 0, 0, 0, 0])
    assert.deepEqual(await historian.deletePoints!([{ tag, ...EVER }], false, context), [left.times.length])
    assertPoints(await readAll(bench, tag), points())
    assert.notEqual((await historian.findTags([tag], context))[0], null)
    await write(bench, tag, points([5, 5]))
    assertPoints(await readAll(bench, tag), points([5, 5]))
  })

  promised('deleting tags removes them with their points, all or none', async (bench) => {
    const { historian, context } = bench
    if (!historian.capabilities.deleteTags) return
    const [one, two, three] = [bench.tag(), bench.tag(), bench.tag()]
    await write(bench, one, ramp(9_000, 0, 1))
    await write(bench, two, points([1, 1]))
    await write(bench, three, points([1, 1]))
    await assert.rejects(historian.deleteTags!([one, bench.tag()], false, context), hasCode('TAG_NOT_FOUND'))
    assert.equal((await readAll(bench, one)).times.length, 9_000)
    assert.deepEqual(await historian.deleteTags!([one, two], true, context), [9_000, 1])
    assert.deepEqual(await historian.deleteTags!([one, two], false, context), [9_000, 1])
    const found = await historian.findTags([one, two, three], context)
    assert.deepEqual(
      found.map((metadata) => metadata === null),
      [true, true, false],
    )
    assertPoints(await readAll(bench, one), points())
    await write(bench, one, points([7, 7]))
    assertPoints(await readAll(bench, one), points([7, 7]))
    assertPoints(await readAll(bench, three), points([1, 1]))
  })

  promised('renaming keeps points and metadata, takes turns, and is all or none', async (bench) => {
    const { historian, context } = bench
    if (!historian.capabilities.renameTags) return
    const [a, b, c, d] = [bench.tag('a'), bench.tag('b'), bench.tag('c'), bench.tag('d')]
    await write(bench, a, points([1, 1]))
    await write(bench, b, points([2, 2]))
    await write(bench, c, points([3, 3]))
    const metadata = { description: 'A', units: null, stepped: true }
    await historian.putTags([{ name: a, metadata }], 'update', context)
    const rename = (dryRun: boolean, ...pairs: readonly (readonly [string, string])[]) =>
      historian.renameTags!(
        pairs.map(([from, to]) => ({ from, to })),
        dryRun,
        context,
      )
    await assert.rejects(rename(false, [a, d], [bench.tag(), 'x']), hasCode('TAG_NOT_FOUND'))
    await assert.rejects(rename(false, [a, d], [b, c]), hasCode('TAG_EXISTS'))
    await assert.rejects(rename(false, [a, d], [b, d]), hasCode('TAG_EXISTS'))
    await assert.rejects(rename(true, [a, c]), hasCode('TAG_EXISTS'))
    await rename(true, [a, d])
    assert.deepEqual(await historian.findTags([a, d], context), [metadata, null])

    await rename(false, [a, b], [b, a], [c, d])
    assertPoints(await readAll(bench, a), points([2, 2]))
    assertPoints(await readAll(bench, b), points([1, 1]))
    assertPoints(await readAll(bench, c), points())
    assertPoints(await readAll(bench, d), points([3, 3]))
    const found = await historian.findTags([a, b, c], context)
    assert.deepEqual(found[1], metadata)
    assert.equal(found[0]?.stepped, false)
    assert.equal(found[2], null)
    await rename(false, [d, d])
    assertPoints(await readAll(bench, d), points([3, 3]))
  })
}
