import assert from 'node:assert/strict'
import { test } from 'node:test'
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
