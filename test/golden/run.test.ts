import { MemoryHistorian } from '../contract/memory-historian.ts'
import { goldenSuite } from './suite.ts'

goldenSuite({
  name: 'memory',
  start: async () => ({ empty: async (name) => new MemoryHistorian(name), stop: async () => {} }),
})
