/** A run whose connections are missing or broken fails before its code starts. */
import type { RunError } from '@gantry/events';
import type { Run } from '@gantry/run-engine';
import type { Pool } from 'pg';
import type { Owned } from '../ownership';
import {
  connectionFor,
  connectionProblems,
  connectionsNamed,
  sayConnectionProblems,
  touchConnections,
} from './usable-connections';

const OWNER = 'SELECT visibility, owner_id AS "ownerId" FROM workers WHERE workspace_id = $1 AND uid = $2';

/** Notes the use of those that work. @returns null where the run may start */
export const refuseRun =
  ({ pool, dashboardUrl, now }: { pool: Pool; dashboardUrl: string; now: () => Date }) =>
  async ({ workspaceId, subjectId, spec }: Run): Promise<RunError | null> => {
    const names = spec.connections ?? [];
    if (!names.length) return null;
    const [owners, connections] = await Promise.all([
      pool.query<Owned>(OWNER, [workspaceId, subjectId]),
      connectionsNamed(pool, workspaceId, names),
    ]);
    const [worker] = owners.rows;
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
