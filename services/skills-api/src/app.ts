/** Assembles the HTTP side of the service. Nothing here listens, connects or reads the environment. */
import type { Identify } from '@gantry/auth';
import type { WorkspaceClosures } from '@gantry/events';
import { createSurface, getSurfaceDocuments, type Health } from '@gantry/http';
import type { SurfaceSettings } from '@gantry/service';
import type { Express } from 'express';
import { createSkillsAuthenticator } from './access/authenticate';
import { createAgentSkillOperations } from './agent-skills/agent-skill-routes';
import { ZIP_BYTES_MAX } from './agent-skills/skill-zip';
import { createApiKeyOperations } from './api-keys/api-key-routes';
import type { Database } from './database';
import type { Deps } from './deps';
import { createLibraryOperations } from './libraries/library-routes';
import { createMeOperations } from './me/me-routes';
import { serveAssets } from './pages/assets';
import { createPageOperations } from './pages/page-routes';
import { createSearchOperations } from './search/search-routes';
import { createSkillOperations } from './skills/skill-routes';

export interface AppOptions extends SurfaceSettings, Omit<Deps, 'prisma'> {
  database: Database;
  health: Health;
  identify: Identify;
  closures: WorkspaceClosures;
}

export function createApp(options: AppOptions): Express {
  const { skillsUrl, dashboardUrl, baseUrl } = options;
  const { pool, prisma } = options.database;
  const deps: Deps = { ...options, prisma };
  return createSurface({
    ...options,
    ...getSurfaceDocuments('skills', options),
    operations: {
      ...options.health.operations,
      ...createMeOperations,
      ...createSkillOperations(deps),
      ...createSearchOperations(deps),
      ...createLibraryOperations(deps),
      ...createApiKeyOperations(deps),
      ...createAgentSkillOperations(deps),
      ...createPageOperations(deps),
    },
    authenticate: createSkillsAuthenticator({ ...options, publicUrls: [baseUrl, dashboardUrl, skillsUrl] }),
    errorShape: 'error',
    pool,
    corsOrigins: [new URL(dashboardUrl).origin],
    uploads: { limits: { fileSize: ZIP_BYTES_MAX, files: 1, fields: 5, fieldSize: 1_024, parts: 10 } },
    beside: serveAssets,
  });
}
