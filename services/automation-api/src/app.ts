/** Assembles the HTTP side of the service. Nothing here listens, connects or reads the environment. */
import type { Authenticate } from '@gantry/auth';
import { createSurface, getSurfaceDocuments, type Health } from '@gantry/http';
import type { KeyedHasher } from '@gantry/limits';
import { createStorageRoutes, type FileStore } from '@gantry/object-store';
import type { SurfaceSettings } from '@gantry/service';
import type { Express } from 'express';
import { createArtifactOperations } from './artifacts/artifact-routes';
import { createAutomationOperations } from './automations/automation-routes';
import { serveDashboard } from './dashboard/dashboard-files';
import type { Deps } from './deps';
import { serveDocsPage } from './pages/docs-page';
import { createPageOperations } from './pages/page-routes';
import { createRunOperations } from './runs/run-routes';
import { checkScheduleFields } from './schedules/schedule-settings';
import { createSecretOperations } from './secrets/secret-routes';

export interface AppOptions extends SurfaceSettings {
  deps: Deps;
  health: Health;
  authenticate: Authenticate;
  hasher: KeyedHasher;
  /** Set where presigned URLs point at this service. */
  fileStore?: FileStore;
  dashboardDir: string;
  /** The built API reference; without it there is none. */
  apiDocsDir?: string;
}

export function createApp(options: AppOptions): Express {
  const { deps, fileStore, baseUrl, dashboardUrl, skillsUrl } = options;
  return createSurface({
    ...options,
    ...getSurfaceDocuments('automation', options),
    operations: {
      ...options.health.operations,
      ...createArtifactOperations(deps),
      ...createAutomationOperations(deps),
      ...createRunOperations(deps),
      ...createSecretOperations(deps),
      ...createPageOperations(deps),
    },
    bodyChecks: { deployAutomation: checkScheduleFields, patchAutomation: checkScheduleFields },
    errorShape: 'error',
    pool: deps.pool,
    beside: (app) => {
      if (fileStore) app.use(createStorageRoutes(fileStore, deps.closures));
      if (options.apiDocsDir) {
        const addresses = { worker: baseUrl, automation: dashboardUrl, skills: skillsUrl };
        app.use(serveDocsPage({ directory: options.apiDocsDir, addresses }));
      }
      app.use(serveDashboard({ directory: options.dashboardDir, addresses: { baseUrl, skillsUrl } }));
    },
  });
}
