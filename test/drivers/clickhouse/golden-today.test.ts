import { chdbServer, startChdb } from '../../servers/chdb.ts'
import { goldenSuiteOf } from './golden.ts'

// The engine in process takes several times as long for a statement as the server does.
goldenSuiteOf({ name: 'clickhouse-today', skip: chdbServer.skip, start: startChdb }, 'cursor')
