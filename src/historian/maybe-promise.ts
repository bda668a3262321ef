/**
 * A value, or a promise of it. Most of what a small call needs is in memory, and an `await` for it yields to other
 * calls and makes promises, which together take longer than having it: the caller checks whether it is a promise before
 * it waits.
 */
export type MaybePromise<Value> = Value | Promise<Value>
