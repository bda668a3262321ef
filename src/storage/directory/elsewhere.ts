/** An embedded historian that is configured to keep its data in a folder of its own. */
export interface HistorianElsewhere {
  readonly name: string
  readonly folder: string
}
