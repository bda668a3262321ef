import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refusalOf, refused, tookNothing } from './errors.ts'

describe('what an answer to a change says for certain', () => {
  const says = (text: string) => {
    const error = refused('plant', refusalOf(text))
    return [tookNothing(error, true), tookNothing(error, false)]
  }

  test('is that nothing was taken, by the number of the refusal and by how whole the change is', () => {
    assert.deepEqual(says('Code: 516. DB::Exception: gateway: Authentication failed'), [true, true])
    assert.deepEqual(says('Code: 202. DB::Exception: Too many simultaneous queries'), [true, true])
    assert.deepEqual(says('Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space'), [
      true,
      false,
    ])
    assert.deepEqual(says('Code: 285. DB::Exception: Number of alive replicas is less than quorum'), [
      true,
      false,
    ])
  })

  test('is nothing where the work may have been done, or something else answered', () => {
    assert.deepEqual(says('Code: 159. DB::Exception: Timeout exceeded'), [false, false])
    assert.deepEqual(says('Code: 216. DB::Exception: Query with id = x is already running'), [false, false])
    assert.deepEqual(says('Code: 319. DB::Exception: Unknown status, client must retry'), [false, false])
    assert.deepEqual(says('<html>502 Bad Gateway</html>'), [false, false])
    assert.deepEqual(says(''), [false, false])
    assert.equal(tookNothing(new Error('socket closed'), true), false)
  })
})
