// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are the placeholders of the configuration file
import { TidemarkError } from '../errors/tidemark-error.ts'
import { nearestName } from '../errors/warnings.ts'

/** Environment variables, as process.env gives them. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Settings that an environment variable can give as well; it wins over the file, and a command line option over both.
 */
export const ENVIRONMENT_SETTINGS = {
  TIDEMARK_HOST: 'server.host',
  TIDEMARK_PORT: 'server.port',
  TIDEMARK_WORKERS: 'server.workers',
  TIDEMARK_BASE_PATH: 'server.basePath',
  TIDEMARK_BODY_LIMIT_BYTES: 'server.bodyLimitBytes',
  TIDEMARK_WRITE_BODY_LIMIT_BYTES: 'server.writeBodyLimitBytes',
  TIDEMARK_MAX_CONCURRENT_CALLS: 'server.maxConcurrentCalls',
  TIDEMARK_MAX_BYTES_IN_WORK: 'server.maxBytesInWork',
  TIDEMARK_CALLER_SHARE_PERCENT: 'server.callerSharePercent',
  TIDEMARK_SILENCE_SECONDS: 'server.silenceSeconds',
  TIDEMARK_MAX_CONNECTIONS: 'server.maxConnections',
  TIDEMARK_MAX_CONNECTIONS_PER_ADDRESS: 'server.maxConnectionsPerAddress',
  TIDEMARK_CALLS_PER_SECOND: 'server.callsPerSecond',
  TIDEMARK_METRICS_NEED_KEY: 'server.metricsNeedKey',
  TIDEMARK_SHUTDOWN_SECONDS: 'server.shutdownSeconds',
  TIDEMARK_DATA_DIR: 'dataDir',
  TIDEMARK_TIME_ZONE: 'timeZone',
  TIDEMARK_DEFAULT_HISTORIAN: 'defaultHistorian',
  TIDEMARK_REQUESTED_POINTS: 'limits.requestedPoints',
  TIDEMARK_HISTORIAN_LOAD: 'limits.historianLoad',
  TIDEMARK_EFFECTIVE_TAGS: 'limits.effectiveTags',
  TIDEMARK_AGGREGATE_WINDOWS: 'limits.aggregateWindows',
  TIDEMARK_LABELS: 'limits.labels',
  TIDEMARK_TAG_NAMES: 'limits.tagNames',
  TIDEMARK_TAGS: 'limits.tags',
  TIDEMARK_RANGES: 'limits.ranges',
  TIDEMARK_DEADLINE_SECONDS: 'limits.deadlineSeconds',
  TIDEMARK_LOG_LEVEL: 'log.level',
  TIDEMARK_TRACING_ENDPOINT: 'tracing.endpoint',
  TIDEMARK_TRACING_SAMPLE_RATIO: 'tracing.sampleRatio',
  TIDEMARK_TRACING_SERVICE_NAME: 'tracing.serviceName',
  TIDEMARK_DEMO: 'demo',
} as const satisfies Record<string, string>

/**
 * Puts environment variables into a text: `${NAME}` becomes the variable's value, `$${` a plain `${`. A value is not
 * looked at again, so a variable that holds `${` stays as it is.
 * @throws TidemarkError CONFIG_INVALID naming the path, for a missing variable or a `${` that is not closed
 */
export function substitute(text: string, path: string, env: Environment): string {
  return text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (whole, name: string | undefined, closed: string) => {
    if (name === undefined) return '${'
    if (closed === '' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw invalid(
        `${path}: ${whole.slice(0, 60)} is not allowed: \${NAME} is expected, or $\${ for a plain \${`,
      )
    }
    const value = env[name]
    if (value !== undefined) return value
    const near = nearestName(name, Object.keys(env))
    throw invalid(
      `${path}: the environment variable ${name} is not set${near === null ? '' : ` (${near} is)`}: ` +
        'set it, or write $${ for a plain ${',
    )
  })
}

function invalid(message: string): TidemarkError {
  return new TidemarkError('CONFIG_INVALID', { message })
}
