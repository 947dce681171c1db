/** The whole service but for listening. */
import { createLastUseTracker, createRemoteIdentityResolver, createTokenHasher, getExternalIssuer } from '@gantry/auth';
import {
  connectBus,
  consumeWithSingleHandler,
  runFinished,
  startRelay,
  toNatsConnectionSettings,
  watchWorkspaceClosures,
  workerSkillPinned,
} from '@gantry/events';
import { observeService } from '@gantry/http';
import { toPoolSettings } from '@gantry/postgres';
import { type RunningService, type SurfaceSettings, startSweeps } from '@gantry/service';
import { createApiKeyTokens } from './api-keys/api-key';
import { createApp } from './app';
import { openDatabase } from './database';
import type { Env } from './env';
import { listSweeps } from './housekeeping';
import { createRenderCache } from './rendering/rendered-cache';
import { createRenderer } from './rendering/renderer';
import { supportsFuzzySearch } from './skills/search-skills';
import { incrementUses } from './skills/skill-events';
import { upsertPin } from './skills/skill-pins';
import { createViewCounter } from './skills/view-counts';
import { seedLibraries } from './starter/seed-libraries';
import { createFindMembers } from './workspaces/find-members';
import { consumeWorkspaceEvents } from './workspaces/workspace-events';

export async function startSkillsApi(env: Env, settings: SurfaceSettings): Promise<RunningService> {
  const { log } = settings;
  const database = openDatabase(env.DATABASE_URL, log, toPoolSettings(env));
  const { pool, prisma } = database;
  const bus = await connectBus({ ...toNatsConnectionSettings(env), name: 'skills-api', log });
  const relay = startRelay({ pool, bus, service: 'skills-api', log });
  const { checks, unobserve } = observeService({ service: 'skills-api', pool, bus, streams: [] }, log);
  const hasher = createTokenHasher(env.TOKEN_PEPPERS);
  const keyUse = createLastUseTracker({ pool, table: 'api_keys', log });
  const views = createViewCounter({ pool, log });
  const closures = await watchWorkspaceClosures({ pool, bus, log });
  const identities = createRemoteIdentityResolver({
    bus,
    jwksUrl: env.JWKS_URL,
    issuer: env.JWT_ISSUER ?? env.BASE_URL,
    audience: env.JWT_AUDIENCE,
    externalIssuer: getExternalIssuer(env),
    ownTokens: createApiKeyTokens({ prisma, hasher, keyUse }),
    log,
  });
  await seedLibraries(prisma, log);
  const shared = { bus, pool, service: 'skills-api', log } as const;
  const skillConsumers = [
    consumeWithSingleHandler({
      ...shared,
      event: runFinished,
      wants: ({ skills }) => Boolean(skills?.length),
      handle: incrementUses,
    }),
    consumeWithSingleHandler({ ...shared, event: workerSkillPinned, handle: upsertPin }),
  ];
  const workspaceEvents = consumeWorkspaceEvents({ bus, pool, log });
  const housekeeping = startSweeps(listSweeps(database), log);
  const renderer = createRenderer({ log });
  const app = createApp({
    ...settings,
    database,
    health: checks,
    identify: identities.identify,
    closures,
    hasher,
    views,
    render: createRenderCache(renderer),
    findMembers: createFindMembers(bus),
    isFuzzy: await supportsFuzzySearch(pool, log),
    evictKey: identities.evictToken,
  });
  return {
    app,
    drain: () => {
      checks.drain();
      housekeeping.stop();
    },
    close: async () => {
      identities.stop();
      await closures.stop();
      await renderer.stop();
      await Promise.all([...skillConsumers, ...workspaceEvents].map((consumer) => consumer.stop()));
      await Promise.all([views.flush(), keyUse.flush()]);
      await relay.stop();
      unobserve();
      await bus.nc.drain();
      await database.close();
    },
  };
}
