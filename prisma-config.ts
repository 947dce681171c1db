/** Prisma's configuration of the services, which names tables that no schema models: packages use them with SQL. */

const EVENTS = ['public.outbox', 'public.published_events', 'public.inbox', 'public.workspace_closures'];
const LIMITS = ['public.idempotency_keys', 'public.rate_counts'];

export const RUN_ENGINE = [
  ...['public.runs', 'public.run_events', 'public.run_events_default', 'public.run_artifacts', 'public.run_steps'],
  ...['public.run_streams', 'public.run_retention', 'public.dependency_locks', 'public.dependency_installations'],
];

/** @param tables those that the service has beside the ones of `packages/events` and `packages/limits` */
export const buildPrismaConfig = (tables: string[] = []) => ({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  experimental: { externalTables: true },
  tables: { external: [...EVENTS, ...LIMITS, ...tables] },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
