import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  experimental: { externalTables: true },
  // Written with SQL by packages/run-engine, packages/events and packages/limits.
  tables: {
    external: [
      'public.runs',
      'public.run_events',
      'public.run_events_default',
      'public.run_artifacts',
      'public.run_steps',
      'public.run_streams',
      'public.run_retention',
      'public.dependency_locks',
      'public.dependency_installations',
      'public.outbox',
      'public.published_events',
      'public.inbox',
      'public.idempotency_keys',
      'public.rate_counts',
      'public.workspace_closures',
    ],
  },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
