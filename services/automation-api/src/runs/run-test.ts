import { notFound } from '@gantry/errors';
import { getCaller } from '@gantry/http';
import { buildRunLimits } from '@gantry/run-engine';
import type { Request } from 'express';
import { findCurrentVersion } from '../automations/current-version';
import type { Deps } from '../deps';
import { toTestStartResponse } from './run-result';
import { startRun, toStartRequest } from './start-run';

const TEST_SECONDS = 60;

/** Runs an artifact without a deployment: no network, 60 s, and secrets only through an automation. */
export async function runTest(deps: Deps, req: Request) {
  const { workspaceId, userId } = getCaller(req);
  const { artifactId, automationId } = req.body;
  const { spec } = await deps.runnables.get(workspaceId, artifactId);
  if (automationId !== undefined) {
    const automation = await findCurrentVersion(deps.pool, automationId);
    if (automation?.workspaceId !== workspaceId) throw notFound('automation', automationId);
  }
  const subject = { id: automationId ?? artifactId, workspaceId, status: 'active', version: null, artifactId } as const;
  const run = await startRun(deps, subject, {
    ...toStartRequest(req),
    trigger: 'api',
    createdBy: userId,
    test: {
      limits: buildRunLimits(TEST_SECONDS),
      network: 'none',
      secrets: automationId === undefined ? [] : spec.secrets,
    },
  });
  return toTestStartResponse(deps.engine, run);
}
