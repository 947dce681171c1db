/** Everything of the service that speaks HTTP, put together. Nothing here listens, connects or reads the environment. */
import type { Identify, TokenHasher } from '@gantry/auth';
import type { WorkspaceClosures } from '@gantry/events';
import { createSurface, type Health, type RateLimits } from '@gantry/http';
import { openapiFiles, publishedFiles } from '@gantry/openapi';
import type { Express } from 'express';
import type { Logger } from 'pino';
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

export interface AppOptions {
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
  baseUrl: string;
  dashboardUrl: string;
  skillsUrl: string;
  log: Logger;
  rateLimits?: RateLimits;
  validateResponses?: boolean;
}

export function createApp(options: AppOptions): Express {
  const { database, identify, hasher, views, forgiving, skillsUrl, dashboardUrl, baseUrl, log } = options;
  const { pool, prisma } = database;
  return createSurface({
    openapiFile: openapiFiles.skills,
    publishedFile: publishedFiles.skills,
    publicUrl: skillsUrl,
    otherSurfaces: [
      { name: 'worker', openapiFile: openapiFiles.worker, url: baseUrl },
      { name: 'automation', openapiFile: openapiFiles.automation, url: dashboardUrl },
    ],
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
    authenticate: skillsAuthenticator({
      identify,
      closures: options.closures,
      publicUrls: [baseUrl, dashboardUrl, skillsUrl],
    }),
    errorShape: 'error',
    pool,
    hasher,
    log,
    corsOrigins: [new URL(dashboardUrl).origin],
    uploads: { limits: { fileSize: ZIP_BYTES_MAX, files: 1, fields: 5, fieldSize: 1_024, parts: 10 } },
    beside: serveAssets,
    ...(options.rateLimits && { rateLimits: options.rateLimits }),
    validateResponses: options.validateResponses ?? false,
  });
}
