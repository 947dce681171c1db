/** The run that a request names, and what a run that it starts has from it. */
import { type Call, getCaller } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import type { Run } from '@gantry/run-engine';
import type { Request } from 'express';
import { findOwnerId } from '../access/ownership';
import type { Worker } from '../generated/prisma/client';
import { getRunWorker, getVisibleRun } from '../workers/visible-worker';
import { findExpiredRunError } from './expired-run';
import type { RunDeps } from './run-deps';
import type { StartRunRequest } from './start-run';

type RunRequest = Pick<Call<{ run_id: string }>, 'caller' | 'path'>;

/** The run that the path names. @throws AppError 404 */
export const getRequestedRun = (deps: Pick<RunDeps, 'engine' | 'pool'>, { caller, path }: RunRequest): Promise<Run> =>
  getVisibleRun(deps, caller, path.run_id);

/** With its worker. @throws AppError 404 */
export async function getRunAndWorker(
  deps: Pick<RunDeps, 'engine' | 'now' | 'pool' | 'prisma' | 'retention'>,
  caller: Principal,
  runId: string,
): Promise<{ run: Run; worker: Worker }> {
  const { workspaceId } = caller;
  const run = await deps.engine.get(workspaceId, runId).catch(async (err) => {
    throw (err.code === 'not_found' && (await findExpiredRunError(deps, workspaceId, runId))) || err;
  });
  return { run, worker: await getRunWorker(deps.prisma, caller, run) };
}

/** Every run that a request starts has this from it. */
export type RequestOrigin = Pick<StartRunRequest, 'createdBy' | 'restriction' | 'requestId' | 'traceparent'>;

export function toOrigin(req: Request): RequestOrigin {
  const caller = getCaller(req);
  return {
    createdBy: findOwnerId(caller),
    restriction: caller.restriction,
    requestId: String(req.id),
    traceparent: req.get('traceparent'),
  };
}
