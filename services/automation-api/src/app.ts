/** Everything of the service that speaks HTTP, put together. Nothing here listens, connects or reads the environment. */
import type { Authenticate } from '@gantry/auth';
import { createSurface, type Health, type KeyedHasher, type PlaceLimits, type RateLimits } from '@gantry/http';
import { type FileStore, storageRoutes } from '@gantry/object-store';
import { openapiFiles, publishedFiles } from '@gantry/openapi';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { artifactOperations } from './artifacts/artifact-routes';
import { automationOperations } from './automations/automation-routes';
import { dashboardFiles } from './dashboard/dashboard-files';
import type { Deps } from './deps';
import { docsPage } from './pages/docs-page';
import { pageOperations } from './pages/page-routes';
import { runOperations } from './runs/run-routes';
import { secretOperations } from './secrets/secret-routes';

export interface AppOptions {
  deps: Deps;
  health: Health;
  authenticate: Authenticate;
  hasher: KeyedHasher;
  /** Set where presigned URLs point at this service. */
  fileStore?: FileStore;
  dashboardDir: string;
  /** The built API reference; without it there is none. */
  apiDocsDir?: string;
  /** Addresses of the other surfaces. */
  baseUrl: string;
  skillsUrl: string;
  log: Logger;
  rateLimits?: RateLimits;
  streamLimits?: PlaceLimits;
  validateResponses?: boolean;
}

export function createApp(options: AppOptions): Express {
  const { deps, fileStore, log, baseUrl, skillsUrl } = options;
  return createSurface({
    openapiFile: openapiFiles.automation,
    publishedFile: publishedFiles.automation,
    publicUrl: deps.dashboardUrl,
    otherSurfaces: [
      { name: 'worker', openapiFile: openapiFiles.worker, url: baseUrl },
      { name: 'skills', openapiFile: openapiFiles.skills, url: skillsUrl },
    ],
    operations: {
      ...options.health.operations,
      ...artifactOperations(deps),
      ...automationOperations(deps),
      ...runOperations(deps),
      ...secretOperations(deps),
      ...pageOperations(deps),
    },
    authenticate: options.authenticate,
    errorShape: 'error',
    pool: deps.pool,
    hasher: options.hasher,
    log,
    ...(options.rateLimits && { rateLimits: options.rateLimits }),
    ...(options.streamLimits && { streamLimits: options.streamLimits }),
    validateResponses: options.validateResponses ?? false,
    beside: (app) => {
      if (fileStore) app.use(storageRoutes(fileStore, deps.closures));
      if (options.apiDocsDir) {
        const addresses = { worker: baseUrl, automation: deps.dashboardUrl, skills: skillsUrl };
        app.use(docsPage({ directory: options.apiDocsDir, addresses }));
      }
      app.use(dashboardFiles({ directory: options.dashboardDir, addresses: { baseUrl, skillsUrl } }));
    },
  });
}
