import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import {
  type ClickhouseServer,
  clickhouseServer,
  runClickhouse,
  serverConfig,
  usersConfig,
} from './clickhouse.ts'
import { findServer, freePort, type ServerProcess, serverFolder, startServer } from './required.ts'

/** Its start script tells that Debian's package is there; it is started without, so that the process is ours to end. */
export const zooKeeperServer = findServer('zookeeper', '/usr/share/zookeeper/bin/zkServer.sh')
const ZOOKEEPER_JAR = '/usr/share/java/zookeeper.jar'

/** Why tests on a cluster are skipped; `false` when they are not. */
export const clusterSkip = clickhouseServer.skip !== false ? clickhouseServer.skip : zooKeeperServer.skip

const SHARDS = 2
const REPLICAS = 2

/** Name of the cluster in its servers' configuration. */
export const CLUSTER = 'plant'

export interface ClickhouseCluster {
  /** By shard, then by replica. */
  readonly servers: readonly (readonly ClickhouseServer[])[]
  /** HTTP interfaces, the first replicas of all shards before the second ones. */
  readonly urls: readonly string[]
  readonly zooKeeper: ServerProcess
  /** Ends all of it at once. */
  stop(): Promise<void>
}

interface Place {
  readonly shard: number
  readonly replica: number
  readonly folder: string
  readonly http: number
  readonly tcp: number
  readonly interserver: number
}

const HOST = '127.0.0.1'

/** 2 shards of 2 replicas each and a ZooKeeper on free ports of this machine, in folders that are gone afterwards. */
export async function startCluster(): Promise<ClickhouseCluster> {
  if (clusterSkip !== false) throw new Error(clusterSkip)
  const { process: zooKeeper, port } = await startZooKeeper()
  const places: Place[] = []
  for (let shard = 0; shard < SHARDS; shard++) {
    for (let replica = 0; replica < REPLICAS; replica++) {
      const folder = serverFolder(`clickhouse-${shard}-${replica}`)
      places.push({
        shard,
        replica,
        folder,
        http: await freePort(),
        tcp: await freePort(),
        interserver: await freePort(),
      })
    }
  }
  const started = await Promise.all(
    places.map(async (place) => {
      const { folder, http } = place
      for (const name of ['data', 'tmp', 'files', 'log']) mkdirSync(join(folder, name))
      writeFileSync(
        join(folder, 'config.xml'),
        serverConfig({ ...place, host: HOST }, clusterConfig(place, places, port)),
      )
      writeFileSync(join(folder, 'users.xml'), usersConfig())
      return runClickhouse(
        folder,
        `http://${HOST}:${http}`,
        "SELECT count() FROM system.zookeeper WHERE path = '/'",
      )
    }),
  )
  const at = (shard: number, replica: number) => started[shard * REPLICAS + replica]!
  const servers = Array.from({ length: SHARDS }, (_, shard) =>
    Array.from({ length: REPLICAS }, (_, replica) => at(shard, replica)),
  )
  return {
    servers,
    urls: Array.from({ length: REPLICAS }, (_, replica) =>
      servers.map((replicas) => replicas[replica]!.url),
    ).flat(),
    zooKeeper,
    async stop() {
      await Promise.all(started.map((server) => server.kill()))
      await zooKeeper.kill()
    },
  }
}

function clusterConfig(own: Place, all: readonly Place[], zooKeeperPort: number): string {
  const shards = Array.from({ length: SHARDS }, (_, shard) => {
    const replicas = all
      .filter((place) => place.shard === shard)
      .map(({ tcp }) => `<replica><host>${HOST}</host><port>${tcp}</port></replica>`)
    return `<shard><internal_replication>true</internal_replication>${replicas.join('')}</shard>`
  })
  return `<remote_servers><${CLUSTER}>${shards.join('')}</${CLUSTER}></remote_servers>
  <zookeeper><node><host>${HOST}</host><port>${zooKeeperPort}</port></node><session_timeout_ms>6000</session_timeout_ms></zookeeper>
  <macros><shard>${own.shard + 1}</shard><replica>replica-${own.replica + 1}</replica></macros>
  <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>`
}

async function startZooKeeper(): Promise<{ readonly process: ServerProcess; readonly port: number }> {
  const folder = serverFolder('zookeeper')
  const port = await freePort()
  writeFileSync(
    join(folder, 'zoo.cfg'),
    [
      'tickTime=1000',
      `dataDir=${folder}`,
      `clientPort=${port}`,
      `clientPortAddress=${HOST}`,
      'admin.enableServer=false',
      '4lw.commands.whitelist=srvr',
      'maxClientCnxns=0',
      '',
    ].join('\n'),
  )
  writeFileSync(join(folder, 'log4j.properties'), 'log4j.rootLogger=OFF\n')
  const process = await startServer({
    command: 'java',
    args: [
      '-Xmx192m',
      // Nothing here is to outlast a power cut, and a session ends where a slow disk is waited for too long.
      '-Dzookeeper.forceSync=no',
      '-cp',
      `${folder}:${ZOOKEEPER_JAR}`,
      'org.apache.zookeeper.server.quorum.QuorumPeerMain',
      join(folder, 'zoo.cfg'),
    ],
    cwd: folder,
    probe: () => isZooKeeperWell(port),
  })
  return { process, port }
}

/** Whether it serves: it takes connections some time before that, and loses them. */
function isZooKeeperWell(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, HOST, () => socket.write('srvr'))
    socket.setEncoding('utf8').setTimeout(1_000, () => socket.destroy())
    socket.on('data', (text) => {
      answer += text
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer.includes('Mode: standalone')))
  })
}
