import type { HintBudget } from '../errors/hint-budget.ts'
import { showInput, TidemarkError } from '../errors/tidemark-error.ts'
import { FAR_FORMS, nearestForms } from './nearest-forms.ts'
import type { TimeContext } from './parse.ts'

/** What the error of a time needs: how the time was read, and how many hints the call may still get. */
export interface TimeErrorContext extends TimeContext {
  readonly hints: HintBudget
}

/** Two accepted forms for the `suggestions` of an issue: the nearest ones while the call has hints left. */
export function acceptedForms(input: unknown, context: TimeErrorContext): readonly [string, string] {
  return context.hints.take() ? nearestForms(input, context) : FAR_FORMS
}

/** The error INVALID_TIME of a field, with two accepted forms in its sentence and as `suggestions`. */
export function invalidTime(input: unknown, field: string, context: TimeErrorContext): TidemarkError {
  const shown = showInput(input)
  const accepted = acceptedForms(input, context)
  return new TidemarkError(
    'INVALID_TIME',
    { input: shown, field, accepted: accepted.join(' or ') },
    { place: { input: shown, suggestions: accepted } },
  )
}
