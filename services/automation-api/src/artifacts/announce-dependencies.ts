import { type Bus, requestPreparation } from '@gantry/events';
import { loadAnnouncedLocks, openInstallation, type RunSpec } from '@gantry/run-engine';
import type { Pool } from 'pg';

/** Lets executors install the packages of an artifact before its first run. */
export async function announceDependencies(
  { bus, pool }: { bus: Bus; pool: Pool },
  workspaceId: string,
  spec: Pick<RunSpec, 'dependencies' | 'lockedCode'>,
): Promise<void> {
  const locks = await loadAnnouncedLocks(pool, workspaceId, spec);
  const installation = await openInstallation(pool, 'automation', workspaceId, spec);
  requestPreparation(bus, { dependencies: spec.dependencies, ...locks, ...installation });
}
