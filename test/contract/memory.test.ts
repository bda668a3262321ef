import { historianContract } from './historian-contract.ts'
import { MemoryHistorian } from './memory-historian.ts'

historianContract({
  name: 'memory',
  start: async () => ({ historian: new MemoryHistorian('memory'), stop: async () => {} }),
  exceptions: [],
})
