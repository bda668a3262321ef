import { configFor, connect, startUpstream } from './upstream.ts'

// Each command is a call over HTTP that another service answers.
process.env.CONTRACT_RUNS ??= '8'
const { historianContract } = await import('../../contract/historian-contract.ts')

historianContract({
  name: 'tidemark',
  start: async () => {
    const upstream = await startUpstream('plant')
    const open = async () => (await connect(configFor(upstream, 'plant'), 'site')).historian
    let historian = await open()
    return {
      historian,
      async reopen() {
        // The other instance ends without warning too: what it acknowledged is there.
        await historian.close()
        await upstream.service.kill()
        await upstream.restart()
        historian = await open()
        return historian
      },
      async stop() {
        await historian.close()
        await upstream.service.stop()
      },
    }
  },
  exceptions: [
    {
      test: 'metadata survives the round trip, and changing it leaves the points alone',
      reason:
        'the interface takes descriptions of up to 10,000 characters; metadata.test.ts has all the rest of it',
    },
  ],
})
