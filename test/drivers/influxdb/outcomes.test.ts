import { foundInflux, InfluxServer } from '../../servers/influxdb.ts'
import { outcomePromises } from '../outcome-promises.ts'
import { openInflux } from './subject.ts'

outcomePromises(
  'InfluxDB',
  async () => {
    const server = await InfluxServer.start(['plant'])
    return {
      port: Number(new URL(server.url).port),
      open: async (port, timeoutSeconds) => {
        const at = { url: `http://127.0.0.1:${port}` }
        return (await openInflux(at, 'plant', { timeoutSeconds })).historian
      },
      strides: { write: 3, delete: 5, hold: 3 },
      stop: () => server.stop(),
    }
  },
  foundInflux.skip,
)
