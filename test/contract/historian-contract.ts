import { declareChangePromises } from './change-promises.ts'
import { declareComparisonPromises } from './comparison-promises.ts'
import { declareModelPromises } from './model-promises.ts'
import { declarePushDownPromises } from './push-down-promises.ts'
import { declareReadPromises } from './read-promises.ts'
import { checkExceptions, type Subject, suite } from './subject.ts'
import { declareTagPromises } from './tag-promises.ts'

/**
 * The one suite that every historian driver passes: the contract of src/historian/contract.ts as tests. It asks
 * capabilities and never names. What needs writing is left out for a historian that cannot be written to, which then
 * brings its own data.
 */
export function historianContract(subject: Subject): void {
  suite(subject, 'reads', declareReadPromises)
  suite(subject, 'tags', declareTagPromises)
  suite(subject, 'changes', declareChangePromises)
  suite(subject, 'push-downs', declarePushDownPromises)
  suite(subject, 'comparisons', declareComparisonPromises)
  suite(subject, 'as a plain model', declareModelPromises)
  checkExceptions(subject)
}
