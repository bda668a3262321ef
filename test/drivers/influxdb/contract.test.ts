import { test } from 'node:test'
import { historianContract } from '../../contract/historian-contract.ts'
import { foundInflux, InfluxServer } from '../../servers/influxdb.ts'
import { openInflux } from './subject.ts'

if (foundInflux.skip !== false) test('the contract on InfluxDB', { skip: foundInflux.skip })
else {
  runContract('influxdb', {})
  runContract('influxdb-measurements', {
    tagName: '{measurement}',
    statusField: 'quality',
    good: ['GOOD', 'UNCERTAIN'],
    bad: 'BAD',
    existing: true,
    retentionPolicy: 'autogen',
    gzip: true,
  })
}

function runContract(name: string, settings: Readonly<Record<string, unknown>>): void {
  historianContract({
    name,
    start: async () => {
      const server = await InfluxServer.start(['contract'])
      let { historian } = await openInflux(server, 'contract', settings)
      return {
        historian,
        async reopen() {
          await historian.close()
          historian = (await openInflux(server, 'contract', settings)).historian
          return historian
        },
        async stop() {
          await historian.close()
          await server.stop()
        },
      }
    },
    exceptions: [],
  })
}
