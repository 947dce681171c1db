import { AppError, notFound } from '@gantry/errors';
import { getCaller } from '@gantry/http';
import { type Run, SubjectChangedError } from '@gantry/run-engine';
import type { Request } from 'express';
import { findCurrentVersion } from '../automations/current-version';
import type { Deps } from '../deps';
import { type RunStart, startRun, toStartRequest } from './start-run';

/**
 * Runs an automation of the caller's workspace. Its state at the last run is cached and confirmed by the statement that
 * inserts the run, which saves a query.
 * @throws AppError 404, and what startRun throws
 */
export async function runAutomation(deps: Deps, automationId: string, req: Request): Promise<Run> {
  const { workspaceId, userId } = getCaller(req);
  const start: RunStart = { ...toStartRequest(req), trigger: 'api', createdBy: userId };
  const remembered = deps.recent.get(automationId);
  if (remembered?.workspaceId === workspaceId) {
    try {
      return await startRun(deps, remembered, { ...start, onlyIfCurrent: true });
    } catch (err) {
      // Inputs that are invalid for one version may be valid for the next. In both cases nothing was created.
      if (!(err instanceof SubjectChangedError || (err instanceof AppError && err.status === 400))) throw err;
      deps.recent.delete(automationId);
    }
  }
  const automation = await findCurrentVersion(deps.pool, automationId);
  if (automation?.workspaceId !== workspaceId) throw notFound('automation', automationId);
  const run = await startRun(deps, automation, start);
  const { manifest } = await deps.runnables.get(workspaceId, automation.artifactId);
  // A file is stored before the run is inserted: a second attempt would leave one behind.
  if (manifest.inputs.every(({ type }) => type !== 'file')) deps.recent.set(automationId, automation);
  return run;
}
