import { historianContract } from './historian-contract.ts'
import { PushDownHistorian } from './push-down-historian.ts'

historianContract({
  name: 'memory with push-downs',
  start: async () => ({ historian: new PushDownHistorian('memory'), stop: async () => {} }),
  exceptions: [],
})
