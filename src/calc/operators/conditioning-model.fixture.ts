import type { Row } from '../graph/array-source.fixture.ts'

/** A calculation of logic and conditioning, as data for its slow evaluation (slow-conditioning.fixture.ts). */
export type Model =
  | { readonly kind: 'tag'; readonly name: string; readonly stepped: boolean; readonly rows: readonly Row[] }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'add' | 'mul'; readonly a: Model; readonly b: Model }
  | {
      readonly kind: 'threshold'
      readonly a: Model
      readonly b: Model
      readonly yes: Model
      readonly no: Model
    }
  | {
      readonly kind: 'equals'
      readonly a: Model
      readonly b: Model
      readonly yes: Model
      readonly no: Model
      readonly precision: number
      readonly percent: boolean
    }
  | { readonly kind: 'time'; readonly at: number; readonly before: Model; readonly after: Model }
  | { readonly kind: 'stepped' | 'steppedraw' | 'nobad' | 'epoch'; readonly a: Model }
  | { readonly kind: 'shift'; readonly a: Model; readonly us: number }
  | { readonly kind: 'point'; readonly a: Model; readonly us: number }
  | { readonly kind: 'lowpass'; readonly a: Model; readonly periodUs: number }
  | { readonly kind: 'highpass'; readonly a: Model; readonly periodUs: number }
  /** What a filter reads: the same for a request that begins earlier. */
  | { readonly kind: 'wider'; readonly a: Model; readonly us: number }

export type Compared = Extract<Model, { readonly kind: 'threshold' | 'equals' }>
export type Elementwise = Extract<
  Model,
  { readonly kind: 'add' | 'mul' | 'threshold' | 'equals' | 'time' | 'highpass' }
>

/** The calculation as text. */
export function modelText(model: Model): string {
  const text = modelText
  switch (model.kind) {
    case 'tag':
      return `h/${model.name}`
    case 'constant':
      return `constants/${Number.isNaN(model.value) ? 'empty' : model.value}`
    case 'add':
    case 'mul':
      return `${model.kind}(${text(model.a)}, ${text(model.b)})`
    case 'threshold':
      return `THRESHOLD(${[model.a, model.b, model.yes, model.no].map(text)})`
    case 'equals': {
      const precision = `${model.precision}${model.percent ? '%' : ''}`
      return `IFEQUALS(${[model.a, model.b, model.yes, model.no].map(text)}, ${precision})`
    }
    case 'time': {
      const time = Temporal.Instant.fromEpochNanoseconds(BigInt(model.at) * 1000n)
      return `TIME_THRESHOLD(${time}, ${text(model.before)}, ${text(model.after)})`
    }
    case 'stepped':
    case 'steppedraw':
    case 'nobad':
      return `${model.kind}(${text(model.a)})`
    case 'epoch':
      return `EPOCH_MS(${text(model.a)})`
    case 'shift':
      return `TIMESHIFT(${text(model.a)}, ${model.us / 1000})`
    case 'point':
      return `POINTINTIME(${text(model.a)}, ${model.us / 1000})`
    case 'wider':
      return text(model.a)
    case 'lowpass':
    case 'highpass':
      return `${model.kind}(${text(model.a)}, ${(model.periodUs / 1e6).toFixed(6)})`
  }
}

/** Whether it is the same at every time, whatever is stored. */
export function isConstant(model: Model): boolean {
  switch (model.kind) {
    case 'constant':
    case 'point':
      return true
    case 'tag':
    case 'time':
    case 'epoch':
      return false
    case 'add':
    case 'mul':
    case 'threshold':
    case 'equals':
      return inputsOf(model).every(isConstant)
    default:
      return isConstant(model.a)
  }
}

export function inputsOf(model: Exclude<Elementwise, { readonly kind: 'highpass' }>): readonly Model[] {
  switch (model.kind) {
    case 'add':
    case 'mul':
      return [model.a, model.b]
    case 'threshold':
    case 'equals':
      return [model.a, model.b, model.yes, model.no]
    case 'time':
      return [model.before, model.after]
  }
}
