/**
 * What is there already, or comes. Most of what a small call needs is in memory, and an `await` for it lets others in and makes
 * promises, which together take longer than having it: whoever gets one of these looks whether it is a promise before it waits.
 */
export type MaybePromise<Value> = Value | Promise<Value>
