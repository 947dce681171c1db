/** A run whose connections are missing or broken fails before its code starts. */
import type { RunError } from '@gantry/events';
import type { Run } from '@gantry/run-engine';
import type { Pool } from 'pg';
import {
  connectionFor,
  connectionProblems,
  connectionsNamed,
  ownerOf,
  sayConnectionProblems,
  touchConnections,
} from './usable-connections';

/** Notes the use of those that work. @returns null where the run may start */
export const refuseRun =
  ({ pool, dashboardUrl, now }: { pool: Pool; dashboardUrl: string; now: () => Date }) =>
  async (run: Run): Promise<RunError | null> => {
    const { workspaceId, spec } = run;
    const names = spec.connections ?? [];
    if (!names.length) return null;
    const [worker, connections] = await Promise.all([ownerOf(pool, run), connectionsNamed(pool, workspaceId, names)]);
    // Deleted meanwhile: its runs are cancelled.
    if (!worker) return null;
    const problems = connectionProblems(worker, names, connections);
    if (problems.length) {
      return { code: 'missing_connection', message: sayConnectionProblems(problems, dashboardUrl) };
    }
    const used = names.flatMap((name) => connectionFor(worker, name, connections)?.id ?? []);
    await touchConnections(pool, workspaceId, used, now());
    return null;
  };
