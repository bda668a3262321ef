import { describe, test } from 'node:test'
import {
  CLUSTER,
  type ClickhouseCluster,
  clusterSkip,
  startCluster,
} from '../../servers/clickhouse-cluster.ts'
import { openHistorian } from './open.ts'

// Each write waits for a quorum through ZooKeeper: fewer sequences than elsewhere unless more are asked for.
process.env.CONTRACT_RUNS ??= '2'
process.env.CONTRACT_SINGLES ??= '25'
// The statements are those that the contract of a single server asks for each gap.
process.env.CONTRACT_GAPS ??= '100'
const { historianContract } = await import('../../contract/historian-contract.ts')

/** One cluster for all suites, each with a database of its own; it is ended with the file. */
let cluster: Promise<ClickhouseCluster> | null = null
let databases = 0

if (clusterSkip === false) {
  historianContract({
    name: 'clickhouse-cluster',
    start: async () => {
      cluster ??= startCluster()
      const { urls } = await cluster
      const settings = {
        urls,
        cluster: CLUSTER,
        writeQuorum: 2,
        partitionBy: 'month',
        database: `suite_${++databases}`,
      }
      let historian = await openHistorian(settings)
      return {
        historian,
        async reopen() {
          await historian.close()
          // Another process would begin with another server.
          historian = await openHistorian({ ...settings, urls: urls.toReversed() })
          return historian
        },
        stop: () => historian.close(),
      }
    },
    exceptions: [],
  })
} else {
  describe('clickhouse-cluster', () => {
    test('keeps the contract', { skip: clusterSkip }, () => {})
  })
}
