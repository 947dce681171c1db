import { defineConfig } from 'prisma/config';

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  experimental: { externalTables: true },
  // Written with SQL by packages/events and packages/limits.
  tables: {
    external: [
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
