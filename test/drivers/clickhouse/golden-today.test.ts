import { chdbServer, startChdb } from '../../servers/chdb.ts'
import { goldenSuiteOf } from './golden.ts'

goldenSuiteOf({ name: 'clickhouse-today', skip: chdbServer.skip, start: startChdb })
