import { makeColumns, type PointColumns } from '../../series/columns.ts'

/** A slow wave with noise; in parts of it irregular, BAD, without a good point, constant, or with a spike. */
export function points(count: number): PointColumns {
  const all = makeColumns(count)
  let noise = 1
  for (let i = 0; i < count; i++) {
    noise = (noise * 48_271) % 2_147_483_647
    const isIrregular = i > 30_000 && i < 45_000
    all.times[i] = i * 1_000_000 + (isIrregular ? noise % 900_000 : 0)
    const wave = Math.round(1_000 * Math.sin(i / 9_000) + (noise % 100) / 5) / 100
    all.values[i] = i > 60_000 && i < 75_000 ? 0 : i % 20_011 === 0 ? 99 : wave
    const isBad = (i > 46_000 && i < 49_000 && i % 11 === 0) || (i > 80_000 && i < 85_000)
    if (isBad) all.statuses[i] = 1
  }
  return all
}
