import { clickhouseServer, startClickhouse } from '../../servers/clickhouse.ts'
import { goldenSuiteOf } from './golden.ts'

goldenSuiteOf({ name: 'clickhouse', skip: clickhouseServer.skip, start: startClickhouse })
