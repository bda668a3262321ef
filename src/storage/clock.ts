/** Gives the present, in microseconds since 1970. */
export type Clock = () => number

/** The machine's clock, to the millisecond that it gives. */
export const systemClock: Clock = () => Date.now() * 1000
