/** State of the parts that this service depends on; null for a part that can't be read within its time. */
import { loadOutboxBacklog, streamPlans } from '@gantry/events';
import type { Health } from '@gantry/http';
import type { SystemDeps } from './system-deps';

type DetailDeps = Pick<SystemDeps, 'pool' | 'bus'> & { health: Health; version: string };

const CHECK_TIMEOUT_MS = 1_500;

export async function loadHealthDetails({ pool, bus, health, version }: DetailDeps) {
  const [dependencies, migrations, streams, outbox] = await Promise.all([
    health.dependencies(),
    withTimeout(loadMigrationStatus(pool)),
    withTimeout(loadStreamStatus(bus)),
    withTimeout(loadOutboxStatus(pool)),
  ]);
  const uptimeSeconds = Math.floor(process.uptime());
  return {
    status: health.statusOf(dependencies),
    service: 'worker-api',
    version,
    node: process.versions.node,
    started_at: new Date(Date.now() - uptimeSeconds * 1_000).toISOString(),
    uptime_seconds: uptimeSeconds,
    dependencies: dependencies.map(({ name, up, latencyMs }) => ({ name, up, latency_ms: latencyMs })),
    migrations,
    outbox,
    streams,
  };
}

async function withTimeout<T>(work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, null);
  });
  return Promise.race([work.catch(() => null), late]).finally(() => clearTimeout(timer));
}

async function loadMigrationStatus(pool: SystemDeps['pool']) {
  const { rows } = await pool.query<{ applied: number; latest: string | null }>(
    'SELECT count(*)::int AS applied, max(migration_name) AS latest FROM _prisma_migrations WHERE finished_at IS NOT NULL',
  );
  return rows[0] ?? null;
}

/** Events that wait to be published: none, for longer than a moment, while NATS is up. */
async function loadOutboxStatus(pool: SystemDeps['pool']) {
  const { events, oldestAt } = await loadOutboxBacklog(pool);
  return { waiting: Math.min(events, 1_000), oldest_at: oldestAt?.toISOString() ?? null };
}

/** `pending`: how many messages each consumer has not been given yet. */
async function loadStreamStatus({ nc }: SystemDeps['bus']) {
  const manager = await nc.jetstreamManager({ checkAPI: false });
  return Promise.all(
    streamPlans.map(async ({ name }) => {
      const [{ state, config }, consumers] = await Promise.all([
        manager.streams.info(name),
        manager.consumers.list(name).next(),
      ]);
      return {
        name,
        messages: state.messages,
        bytes: state.bytes,
        bytes_max: config.max_bytes,
        consumers: consumers.map((consumer) => ({
          name: consumer.name,
          pending: consumer.num_pending,
          unacknowledged: consumer.num_ack_pending,
          redelivered: consumer.num_redelivered,
        })),
      };
    }),
  );
}
