import type { Bus } from '@gantry/events';
import type { SurfaceUrls } from '@gantry/http';
import type { RunEngine } from '@gantry/run-engine';
import type { SecretStore } from '@gantry/vault';
import type { Logger } from 'pino';
import type { FileTreeDeps } from '../file-trees/file-tree-deps';
import type { PrismaClient, Worker } from '../generated/prisma/client';
import type { TriggerDeps } from '../triggers/trigger-deps';
import type { Manifests } from './manifests';

export interface WorkerDeps extends FileTreeDeps, TriggerDeps {
  prisma: PrismaClient;
  bus: Bus;
  engine: RunEngine;
  secrets: SecretStore;
  /** Reads and writes the manifests of bundles. */
  manifests: Manifests;
  /** Lets executors prepare the current version of a worker for its runs. */
  prepareVersion: (worker: Pick<Worker, 'uid' | 'workspaceId'>) => Promise<void>;
  /** Models that agents may name. */
  models: {
    recentFor(workspaceId: string): Promise<{ findProblem(name: string | undefined): string | null }>;
  };
  /** Addresses at which other surfaces are called on behalf of a caller. */
  surfaceUrls: SurfaceUrls;
  /** Public address of the dashboard, without a slash at the end. */
  dashboardUrl: string;
  now: () => Date;
  log: Logger;
}
