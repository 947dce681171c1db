import { conflict } from '@gantry/http';
import type { Run } from '@gantry/run-engine';
import type { Request } from 'express';
import type { CurrentVersion } from '../automations/current-version';
import type { Deps } from '../deps';
import { type Start, startRun, WAIT_SECONDS } from './start-run';

/** @throws AppError 409 unless it is active; 400 naming every input that is wrong */
export async function runAutomation(
  deps: Deps,
  automation: CurrentVersion,
  options: { req: Request; trigger: Start['trigger']; createdBy: string | null },
): Promise<Run> {
  const { id, workspaceId, status, version, artifactId } = automation;
  if (status !== 'active') throw conflict(status, `this automation is ${status}; make it active to run it`);
  const { req, trigger, createdBy } = options;
  return startRun(deps, {
    workspaceId,
    subjectId: id,
    trigger,
    version,
    runnable: await deps.runnables.get(workspaceId, artifactId),
    inputs: req.body.inputs,
    createdBy,
    waitSeconds: req.body.wait ?? WAIT_SECONDS,
    requestId: String(req.id),
    traceparent: req.get('traceparent'),
  });
}
