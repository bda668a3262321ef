/** The next number, from 0 on. */
export type Random = (below: number) => number

/** Numbers that look random and are the same in each run. */
export function randomOf(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x297a2d39
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}
