import { CLUSTER, startCluster } from '../test/servers/clickhouse-cluster.ts'
import { endAll } from '../test/servers/required.ts'

/*
 * Starts a ClickHouse cluster of 2 shards with 2 replicas each, and the ZooKeeper that it needs, on loopback ports, and
 * prints the configuration of a historian on it. Its data are gone when it ends, with Ctrl+C:
 *
 *   node scripts/clickhouse-cluster.ts
 */

const cluster = await startCluster()
const urls = cluster.urls.map((url) => `      - ${url}`).join('\n')
console.log(`A cluster of 2 shards with 2 replicas each answers until this ends. A historian on it, for tidemark.yaml:

historians:
  plant:
    type: clickhouse
    urls:
${urls}
    cluster: ${CLUSTER}
    writeQuorum: 2
`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll()
    process.exit(0)
  })
}
