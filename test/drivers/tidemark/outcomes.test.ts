import { outcomePromises } from '../outcome-promises.ts'
import { configFor, connect, startUpstream } from './upstream.ts'

outcomePromises(
  'a Tidemark instance',
  async () => {
    const upstream = await startUpstream('plant')
    return {
      port: Number(new URL(upstream.service.url).port),
      open: async (port, timeoutSeconds) => {
        const config = configFor(upstream, 'plant', {
          url: `http://127.0.0.1:${port}`,
          timeoutSeconds,
          connectSeconds: 5,
        })
        // Not waited for: with a short time limit the first call may fail.
        return (await connect(config, 'site', false)).historian
      },
      stop: async () => {},
    }
  },
  false,
)
