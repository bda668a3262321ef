/** What is there already, or comes: most of what a small call needs is in memory, and waiting for it would cost more than having it. */
export type MaybePromise<Value> = Value | Promise<Value>

/** Work that waits only where it has to: it yields the promises that it waits for, and is given what they resolve with. */
export type Steps<Result> = Generator<Promise<unknown>, Result, unknown>

/**
 * Does work in steps: at once as far as nothing is waited for, and to its end where nothing is. An async function would let others
 * in, and make promises, at each `await` of something that is there.
 * @returns the result, or a promise where something was waited for
 * @throws  what the work throws before it waits for the first time; later it rejects
 */
export function walk<Result>(steps: Steps<Result>): MaybePromise<Result> {
  const step = steps.next()
  return step.done === true ? step.value : goOn(steps, step.value)
}

async function goOn<Result>(steps: Steps<Result>, first: Promise<unknown>): Promise<Result> {
  let waited = first
  for (;;) {
    let found: unknown
    let failure: { readonly error: unknown } | null = null
    try {
      found = await waited
    } catch (error) {
      failure = { error }
    }
    const step = failure === null ? steps.next(found) : steps.throw(failure.error)
    if (step.done === true) return step.value
    waited = step.value
  }
}

/** In steps: `yield* resultOf(what)` is `await what` for those who need not wait. */
export function* resultOf<Value>(value: MaybePromise<Value>): Steps<Value> {
  return value instanceof Promise ? ((yield value) as Value) : value
}
