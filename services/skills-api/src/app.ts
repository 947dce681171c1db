/** Everything of the service that speaks HTTP, put together. Nothing here listens, connects or reads the environment. */
import type { Identify, TokenHasher } from '@gantry/auth';
import type { WorkspaceClosures } from '@gantry/events';
import { createSurface, documentsOf, type Health } from '@gantry/http';
import type { SurfaceSettings } from '@gantry/service';
import type { Express } from 'express';
import { skillsAuthenticator } from './access/authenticate';
import { agentSkillOperations } from './agent-skills/agent-skill-routes';
import { ZIP_BYTES_MAX } from './agent-skills/skill-zip';
import { apiKeyOperations } from './api-keys/api-key-routes';
import type { Database } from './database';
import { libraryOperations } from './libraries/library-routes';
import { meOperations } from './me/me-routes';
import { serveAssets } from './pages/assets';
import { pageOperations } from './pages/page-routes';
import type { Render } from './rendering/rendered-cache';
import { searchOperations } from './search/search-routes';
import { skillOperations } from './skills/skill-routes';
import type { ViewCounts } from './skills/view-counts';

export interface AppOptions extends SurfaceSettings {
  database: Database;
  health: Health;
  identify: Identify;
  closures: WorkspaceClosures;
  hasher: TokenHasher;
  views: ViewCounts;
  render: Render;
  /** Search finds misspelt words. */
  forgiving: boolean;
  /** At once in this process; the event that follows tells the others. */
  evictKey: (keyId: string) => void;
}

export function createApp(options: AppOptions): Express {
  const { database, hasher, views, forgiving, skillsUrl, dashboardUrl, baseUrl } = options;
  const { pool, prisma } = database;
  return createSurface({
    ...options,
    ...documentsOf('skills', options),
    operations: {
      ...options.health.operations,
      ...meOperations,
      ...skillOperations({ prisma, skillsUrl, views }),
      ...searchOperations({ prisma, skillsUrl, forgiving }),
      ...libraryOperations({ prisma, skillsUrl }),
      ...apiKeyOperations({ prisma, hasher, revoked: options.evictKey }),
      ...agentSkillOperations({ prisma, skillsUrl, views }),
      ...pageOperations({ prisma, skillsUrl, views, render: options.render, forgiving }),
    },
    authenticate: skillsAuthenticator({ ...options, publicUrls: [baseUrl, dashboardUrl, skillsUrl] }),
    errorShape: 'error',
    pool,
    corsOrigins: [new URL(dashboardUrl).origin],
    uploads: { limits: { fileSize: ZIP_BYTES_MAX, files: 1, fields: 5, fieldSize: 1_024, parts: 10 } },
    beside: serveAssets,
  });
}
