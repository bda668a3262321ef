import { goldenSuite } from '../../golden/suite.ts'
import { foundInflux, InfluxServer } from '../../servers/influxdb.ts'
import { openInflux } from './subject.ts'

goldenSuite({
  name: 'influxdb',
  skip: foundInflux.skip,
  ways: 'pages',
  oneOf: 2,
  start: async () => {
    const server = await InfluxServer.start([])
    let databases = 0
    return {
      async empty(name) {
        const database = `golden ${++databases}`
        await server.query(`CREATE DATABASE "${database}"`)
        return (await openInflux(server, database, {}, name)).historian
      },
      stop: () => server.stop(),
    }
  },
})
