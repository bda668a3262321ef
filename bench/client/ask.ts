/**
 * A request whose bytes were made beforehand, so that making them is not measured. It resolves with the last byte of
 * the answer; what it resolves with reads the answer into values of the client's language, and says how much of what
 * was asked for it had.
 */
export type Ask = () => Promise<() => number>
