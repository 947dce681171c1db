import { type Bus, requestPreparation } from '@gantry/events';
import { loadAnnouncedLocks, openInstallation, type RunSpec } from '@gantry/run-engine';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

/** Lets executors install the packages of an artifact before its first run. Best effort: never throws. */
export async function announceDependencies(
  { bus, pool, log }: { bus: Bus; pool: Pool; log: Logger },
  workspaceId: string,
  spec: Pick<RunSpec, 'dependencies' | 'lockedCode'>,
): Promise<void> {
  try {
    const locks = await loadAnnouncedLocks(pool, workspaceId, spec);
    const installation = await openInstallation(pool, 'automation', workspaceId, spec);
    requestPreparation(bus, { dependencies: spec.dependencies, ...locks, ...installation });
  } catch (err) {
    log.warn({ err, codeId: spec.lockedCode?.id }, 'packages could not be announced');
  }
}
