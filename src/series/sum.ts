/**
 * A sum that keeps what each addition rounds away (Neumaier's variant of Kahan's summation), so that its error does not
 * grow with the number of terms: a year of 1 Hz points adds up as exactly as ten of them.
 * @source A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen (1974)
 */
export class CompensatedSum {
  #sum = 0
  #lost = 0

  add(term: number): void {
    const sum = this.#sum + term
    if (Math.abs(this.#sum) >= Math.abs(term)) this.#lost += this.#sum - sum + term
    else this.#lost += term - sum + this.#sum
    this.#sum = sum
  }

  reset(): void {
    this.#sum = 0
    this.#lost = 0
  }

  /** The sum so far; infinite when it left the range of doubles. */
  get value(): number {
    // Once the sum has overflowed, what was lost is NaN; the overflow itself is the answer.
    return Number.isFinite(this.#sum) ? this.#sum + this.#lost : this.#sum
  }
}
