import { callerOf, notFound } from '@gantry/http';
import { runLimits } from '@gantry/run-engine';
import type { Request } from 'express';
import { findCurrent } from '../automations/current-version';
import type { Deps } from '../deps';
import { toStartedTest } from './run-result';
import { askedBy, startRun } from './start-run';

const TEST_SECONDS = 60;

/** Runs an artifact without a deployment: no network, 60 s, and secrets only through an automation. */
export async function runTest(deps: Deps, req: Request) {
  const { workspaceId, userId } = callerOf(req);
  const { artifactId, automationId } = req.body;
  const { spec } = await deps.runnables.get(workspaceId, artifactId);
  if (automationId !== undefined) {
    const automation = await findCurrent(deps.pool, automationId);
    if (automation?.workspaceId !== workspaceId) throw notFound('automation', automationId);
  }
  const tested = { id: automationId ?? artifactId, workspaceId, status: 'active', version: null, artifactId } as const;
  const run = await startRun(deps, tested, {
    ...askedBy(req),
    trigger: 'api',
    createdBy: userId,
    test: {
      limits: runLimits(TEST_SECONDS),
      network: 'none',
      secrets: automationId === undefined ? [] : spec.secrets,
    },
  });
  return toStartedTest(deps.engine, run);
}
