import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AddressBook } from './address-book.ts'
import { JsonBytes } from './json-bytes.ts'

/** Numbers of addresses, read one after the other as from one request. */
function numbersOf(book: AddressBook, addresses: readonly string[]): number[] {
  const numbers: number[] = []
  for (const address of addresses) {
    const json = new JsonBytes(Buffer.from(`${address}"`))
    numbers.push(book.find(json, numbers.at(-1) ?? -1))
  }
  return numbers
}

const addressesOf = (tags: readonly string[]) => tags.map((tag) => `plant-1/${tag}`)

test('names of tags in any script come back as they were sent', () => {
  const tags = ['T-100', 'Kühlwasser °C', '温度/1', '🏭', 'a/b/c', 'x'.repeat(512)]
  const book = new AddressBook()
  const numbers = numbersOf(book, addressesOf(tags))
  assert.deepEqual(book.tagsOf(numbers), tags)
  assert.deepEqual(numbersOf(book, addressesOf(tags)), numbers)
  assert.equal(book.historianOf(numbers[2]!), 'plant-1')
})

test('the same list gives the same array, also when addresses came meanwhile, and equal names when it was dropped', () => {
  const tags = Array.from({ length: 600 }, (_, index) => `AREA ${index}`)
  const book = new AddressBook({ addresses: 10_000, listed: 1_000 })
  const numbers = numbersOf(book, addressesOf(tags))
  const list = book.tagsOf(numbers)
  const others = numbersOf(book, addressesOf(tags.map((tag) => `${tag} OTHER`)))
  assert.equal(book.tagsOf(numbers), list)
  book.tagsOf(others)
  const anew = book.tagsOf(numbers)
  assert.notEqual(anew, list)
  assert.deepEqual(anew, tags)
})

test('beyond what it keeps an address book forgets all, and goes on', () => {
  const tags = Array.from({ length: 2_000 }, (_, index) => `T${index}`)
  const book = new AddressBook({ addresses: 700, listed: 1_000 })
  const numbers = numbersOf(book, addressesOf(tags))
  assert.equal(book.generation, 2)
  assert.deepEqual(book.tagsOf(numbers.slice(1_400)), tags.slice(1_400))
})

test('forgetting begins anew with any number of addresses', () => {
  const tags = Array.from({ length: 50_000 }, (_, index) => `T${index}`)
  const book = new AddressBook({ addresses: 20_000, listed: 1_000 })
  const numbers = numbersOf(book, addressesOf(tags))
  assert.equal(book.generation, 2)
  assert.deepEqual(book.tagsOf(numbers.slice(40_000)), tags.slice(40_000))
})

test('addresses in any order have one number each, and their own names, however their parts are the same', () => {
  const part = fc.constantFrom('a', 'b', 'ab', 'ß', '', '//', 'UNIT-1', 'x'.repeat(100))
  const tag = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `T${parts.join('/')}`)
  const address = fc.tuple(fc.constantFrom('plant-1', 'p', 'plant-1.b'), tag)
  fc.assert(
    fc.property(fc.array(fc.array(address, { maxLength: 40 }), { maxLength: 8 }), (requests) => {
      const book = new AddressBook()
      const known = new Map<string, number>()
      for (const request of requests) {
        const numbers = numbersOf(
          book,
          request.map((parts) => parts.join('/')),
        )
        assert.deepEqual(
          book.tagsOf(numbers),
          request.map(([, name]) => name),
        )
        for (const [i, [historian, name]] of request.entries()) {
          const number = numbers[i]!
          assert.equal(book.historianOf(number), historian)
          const before = known.get(`${historian}/${name}`)
          assert.equal(number, before ?? known.size)
          known.set(`${historian}/${name}`, number)
        }
      }
    }),
  )
})

test('an address that is too long for any tag is left to others', () => {
  const book = new AddressBook()
  assert.deepEqual(
    numbersOf(book, [`${'h'.repeat(5_000)}/T`, `plant-1/${'x'.repeat(5_000)}`, 'plant-1/T']),
    [-1, -1, 0],
  )
})

test('the beginnings that addresses share are in memory once', () => {
  const tags = Array.from(
    { length: 100_000 },
    (_, index) => `SITE-WITH-A-LONG-NAME/AREA${index >> 10}/UNIT-${index}.PV`,
  )
  const text = Buffer.from(`${addressesOf(tags).join('"')}"`)
  const before = process.memoryUsage().arrayBuffers
  const book = new AddressBook()
  const json = new JsonBytes(text)
  const numbers: number[] = []
  for (let i = 0; i < tags.length; i++) numbers.push(book.find(json, numbers.at(-1) ?? -1))
  const taken = process.memoryUsage().arrayBuffers - before
  assert.ok(taken < 55 * tags.length, `${taken / tags.length} bytes each`)
  assert.deepEqual(book.tagsOf(numbers.slice(99_000)), tags.slice(99_000))
})
