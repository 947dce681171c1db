import { callerOf, notFound } from '@gantry/http';
import { runLimits } from '@gantry/run-engine';
import type { Request } from 'express';
import { findCurrent } from '../automations/current-version';
import type { Deps } from '../deps';
import { toTestRun } from './run-result';
import { startRun, waitSecondsOf } from './start-run';

const TEST_SECONDS = 60;

/** One run of an artifact that need not be deployed: no network, 60 s, and secrets only through an automation. */
export async function runTest(deps: Deps, req: Request) {
  const { workspaceId, userId } = callerOf(req);
  const { artifactId, automationId, inputs } = req.body;
  const runnable = await deps.runnables.get(workspaceId, artifactId);
  if (automationId !== undefined) {
    const automation = await findCurrent(deps.pool, automationId);
    if (automation?.workspaceId !== workspaceId) throw notFound('automation', automationId);
  }
  const run = await startRun(deps, {
    workspaceId,
    subjectId: automationId ?? artifactId,
    trigger: 'api',
    version: null,
    runnable,
    inputs,
    test: {
      limits: runLimits(TEST_SECONDS),
      network: 'none',
      secrets: automationId === undefined ? [] : runnable.spec.secrets,
    },
    createdBy: userId,
    waitSeconds: waitSecondsOf(req),
    requestId: String(req.id),
    traceparent: req.get('traceparent'),
    idempotencyKey: req.idempotencyKey,
  });
  return toTestRun(deps.engine, run);
}
