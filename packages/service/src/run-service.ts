/** The process of a service, identical for all three: environment, start-up, requests, clean shutdown. */
import { setFlagsFromString } from 'node:v8';
import { type Check, readEnv, waitUntilReady } from '@gantry/env';
import { checkNats, type Service, toNatsConnectionSettings } from '@gantry/events';
import { createLogger, type ErrorShape, type SurfaceAddresses, type SurfaceLimits } from '@gantry/http';
import { checkDatabase, listMigrationFolders, readMigrations } from '@gantry/postgres';
import { startTracing } from '@gantry/tracing';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { CommonEnv } from './env';
import { createProblemServer } from './problem-server';
import { type RunningService, serve } from './serve';

/** Settings of every surface, from the environment. */
export interface SurfaceSettings extends SurfaceAddresses, SurfaceLimits {
  /** See TRACE_URL_TEMPLATE. */
  traceUrlTemplate?: string | undefined;
  log: Logger;
}

/** Exits the process if the environment is invalid or start-up fails. */
export function runService<Schema extends z.ZodObject & z.ZodType<CommonEnv>>(options: {
  name: Service;
  /** Holds package.json and the migrations. */
  dir: string;
  errorShape: ErrorShape;
  envSchema: Schema;
  /** Checks of dependencies besides PostgreSQL and NATS. */
  checks?: (env: z.infer<Schema>) => Check[];
  start: (env: z.infer<Schema>, settings: SurfaceSettings) => Promise<RunningService>;
}): void {
  const { name, errorShape } = options;
  skipWasmOptimization();
  const main = async () => {
    const env = readEnv(options.envSchema);
    const log = createLogger(name, env.LOG_LEVEL);
    const checks = [...createCommonChecks(name, options.dir, env, log), ...(options.checks?.(env) ?? [])];
    await waitUntilReady(checks, createProblemServer({ host: env.HOST, port: env.PORT, log }));
    const endTracing = startTracing(name, env, log);
    const running = await options.start(env, toSettings(env, log));
    const close = async () => {
      await running.close();
      await endTracing();
    };
    await serve({ ...running, close, errorShape, host: env.HOST, port: env.PORT, metricsPort: env.METRICS_PORT, log });
  };
  main().catch((err) => {
    process.stderr.write(`${name} could not start: ${err?.stack ?? err}\n`);
    process.exit(1);
  });
}

/**
 * Keeps V8's optimizing compiler away from WebAssembly. The only large module is Prisma's query compiler, which runs
 * once for each form of a query: optimizing it takes longer than it saves, and leaves 25 MB of scratch memory in the
 * process.
 */
function skipWasmOptimization(): void {
  setFlagsFromString('--liftoff-only');
}

function createCommonChecks(service: Service, dir: string, env: CommonEnv, log: Logger): Check[] {
  const migrations = readMigrations(listMigrationFolders(dir));
  const database = { url: env.DATABASE_URL, pgbouncer: env.PGBOUNCER, service, migrations, log };
  return [() => checkDatabase(database), () => checkNats(toNatsConnectionSettings(env))];
}

const toSettings = (env: CommonEnv, log: Logger): SurfaceSettings => ({
  baseUrl: env.BASE_URL,
  dashboardUrl: env.DASHBOARD_URL,
  skillsUrl: env.SKILLS_URL,
  rateLimits: {
    requestsPerMinute: env.RATE_LIMIT_REQUESTS_PER_MINUTE,
    runsPerMinute: env.RATE_LIMIT_RUNS_PER_MINUTE,
    signInsPerMinute: env.RATE_LIMIT_SIGN_INS_PER_MINUTE,
  },
  streamLimits: { perCredential: env.STREAMS_PER_CREDENTIAL_MAX, perAddress: env.STREAMS_PER_ADDRESS_MAX },
  traceUrlTemplate: env.TRACE_URL_TEMPLATE,
  log,
});
