import { AppError, callerOf, conflict, notFound } from '@gantry/http';
import { type Run, SubjectChanged } from '@gantry/run-engine';
import type { Request } from 'express';
import { type CurrentVersion, findCurrent } from '../automations/current-version';
import type { Deps } from '../deps';
import { type Start, startRun, waitSecondsOf } from './start-run';

/** @throws AppError 409 unless it is active; 400 naming every input that is wrong */
export async function runAutomation(
  deps: Deps,
  automation: CurrentVersion,
  options: {
    req: Request;
    trigger: Start['trigger'];
    createdBy: string | null;
    /** @throws SubjectChanged unless `automation` is as it stands in the database */
    onlyIfCurrent?: true;
  },
): Promise<Run> {
  const { id, workspaceId, status, version, artifactId } = automation;
  if (status !== 'active') throw conflict(status, `this automation is ${status}; make it active to run it`);
  const { req, trigger, createdBy, onlyIfCurrent } = options;
  return startRun(deps, {
    workspaceId,
    subjectId: id,
    trigger,
    version,
    runnable: await deps.runnables.get(workspaceId, artifactId),
    inputs: req.body.inputs,
    createdBy,
    waitSeconds: waitSecondsOf(req),
    requestId: String(req.id),
    traceparent: req.get('traceparent'),
    idempotencyKey: req.idempotencyKey,
    ...(onlyIfCurrent && { onlyIfCurrent }),
  });
}

/**
 * Runs an automation of the caller's workspace. What it was when it was last run is remembered, and confirmed by the
 * statement that makes the run: one question less to the database.
 * @throws AppError 404, and what runAutomation throws
 */
export async function runOwnAutomation(deps: Deps, automationId: string, req: Request): Promise<Run> {
  const { workspaceId, userId } = callerOf(req);
  const options = { req, trigger: 'api', createdBy: userId } as const;
  const remembered = deps.recentAutomations.get(automationId);
  if (remembered?.workspaceId === workspaceId) {
    try {
      return await runAutomation(deps, remembered, { ...options, onlyIfCurrent: true });
    } catch (err) {
      // Inputs that are wrong for one version may be right for the next. In both cases nothing has been made.
      if (!(err instanceof SubjectChanged || (err instanceof AppError && err.status === 400))) throw err;
      deps.recentAutomations.forget(automationId);
    }
  }
  const automation = await findCurrent(deps.pool, automationId);
  if (automation?.workspaceId !== workspaceId) throw notFound('automation', automationId);
  const run = await runAutomation(deps, automation, options);
  const { manifest } = await deps.runnables.get(workspaceId, automation.artifactId);
  // A file is stored before the run is made: trying twice would leave one behind.
  if (manifest.inputs.every(({ type }) => type !== 'file')) deps.recentAutomations.remember(automation);
  return run;
}
