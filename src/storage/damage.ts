/**
 * What is stored cannot be read: a checksum is wrong, or parts that belong together contradict each other.
 * The driver turns it into STORAGE_CORRUPT with the historian's name; other data stays readable.
 */
export class Damage extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'Damage'
  }
}
