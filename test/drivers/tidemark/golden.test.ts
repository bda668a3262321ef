import { goldenSuite } from '../../golden/suite.ts'
import { configFor, connect, startUpstream } from './upstream.ts'

const context = { signal: new AbortController().signal }

goldenSuite({
  name: 'tidemark',
  ways: 'pages',
  start: async () => {
    const upstream = await startUpstream('plant')
    const { historian } = await connect(configFor(upstream, 'plant', { gzip: false }), 'plant')
    return {
      empty: async () => {
        const { tags } = await historian.searchTags({ pattern: null, after: null, limit: 1_000 }, context)
        const names = tags.map(({ name }) => name)
        await historian.deleteTags(names, false, context)
        return historian
      },
      stop: async () => {
        await historian.close()
        await upstream.service.stop()
      },
    }
  },
})
