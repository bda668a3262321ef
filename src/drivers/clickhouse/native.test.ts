import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bytesOf, decodeBlocks, encodeBlock, encodeInts, encodeTexts, NativeError } from './native.ts'

const KINDS = { id: 'bigint', time: 'number', value: 'number', bad: 'number', name: 'text' } as const

function block(ids: bigint[], times: number[], values: number[], bad: number[], names: string[]): Buffer {
  return Buffer.concat(
    encodeBlock(ids.length, [
      { name: 'id', type: 'UInt64', bytes: bytesOf(BigUint64Array.from(ids)) },
      { name: 'time', type: 'Int64', bytes: encodeInts(Float64Array.from(times)) },
      { name: 'value', type: 'Float64', bytes: bytesOf(Float64Array.from(values)) },
      { name: 'bad', type: 'UInt8', bytes: Uint8Array.from(bad) },
      { name: 'name', type: 'String', bytes: encodeTexts(names) },
    ]),
  )
}

describe('blocks of columns', () => {
  test('survive the round trip, one or several in a body', () => {
    const times = [0, -1, 1, -8_520_336_000_000_000, 7_258_118_399_999_999, 2 ** 32, -(2 ** 32), 2 ** 31]
    const values = [0, -0, 5e-324, -1e300, 0.1, 1 / 3, 1e-300, 7]
    const names = ['', 'é\u{1f525}', 'x'.repeat(300), "'", '\\', '\n', '\0', 'last']
    const ids = [0n, 1n, 2n ** 64n - 1n, 2n ** 63n, 2n ** 32n, 5n, 6n, 7n]
    const flags = [0, 1, 2, 255, 0, 0, 0, 1]
    const first = block(ids, times, values, flags, names)
    const second = block([9n], [10], [11], [1], ['more'])
    const read = decodeBlocks(Buffer.concat([first, second]), KINDS)
    assert.equal(read.rows, 9)
    assert.deepEqual([...read.id], [...ids, 9n])
    assert.deepEqual([...read.time], [...times, 10])
    assert.ok(Object.is(read.value[1], -0))
    assert.deepEqual([...read.value].slice(2), [...values.slice(2), 11])
    assert.deepEqual([...read.bad], [...flags, 1])
    assert.deepEqual(read.name, [...names, 'more'])
  })

  test('no body is no rows', () => {
    const read = decodeBlocks(Buffer.alloc(0), KINDS)
    assert.equal(read.rows, 0)
    assert.equal(read.time.length, 0)
    assert.deepEqual(read.name, [])
  })

  test('a body that ends too early is refused wherever it ends', () => {
    const whole = block([1n], [2], [3], [0], ['name'])
    for (let length = 1; length < whole.length; length++) {
      assert.throws(() => decodeBlocks(whole.subarray(0, length), KINDS), NativeError, `${length} bytes`)
    }
  })

  test('the reason that a server appends is found', () => {
    const reason = 'Code: 159, e.displayText() = DB::Exception: Timeout exceeded'
    const body = Buffer.concat([block([1n], [2], [3], [0], ['name']), Buffer.from(reason)])
    assert.throws(
      () => decodeBlocks(body, KINDS),
      (error) => error instanceof NativeError && error.rest === reason,
    )
    // As servers of today frame it.
    const framed = `\r\n__exception__\r\nabcdefghijklmnop\r\nCode: 159. DB::Exception: Timeout exceeded`
    assert.throws(
      () => decodeBlocks(Buffer.concat([block([1n], [2], [3], [0], ['name']), Buffer.from(framed)]), KINDS),
      (error) => error instanceof NativeError && error.rest === framed,
    )
  })

  test('another column or type than asked for is refused', () => {
    const body = block([1n], [2], [3], [0], ['name'])
    assert.throws(() => decodeBlocks(body, { ...KINDS, name: 'number' }), NativeError)
    assert.throws(() => decodeBlocks(body, { id: 'bigint' }), NativeError)
    assert.throws(
      () =>
        decodeBlocks(body, { id: 'bigint', zeit: 'number', value: 'number', bad: 'number', name: 'text' }),
      NativeError,
    )
  })
})
