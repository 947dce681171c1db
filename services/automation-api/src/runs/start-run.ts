/** Starts every run of this surface: for clients, pages, tests and schedules. */
import { conflict } from '@gantry/errors';
import type { HeldKey } from '@gantry/limits';
import { storeInputFiles } from '@gantry/program';
import type { NewRun, Run } from '@gantry/run-engine';
import type { Request } from 'express';
import type { PoolClient } from 'pg';
import type { Runnable } from '../artifacts/runnable';
import { getUpload as findUpload } from '../artifacts/upload-repository';
import type { CurrentVersion } from '../automations/current-version';
import type { Deps } from '../deps';

/** api-spec.md, Limits. The OpenAPI file bounds what a caller may ask for. */
const WAIT_SECONDS = 10;

export const getWaitMs = ({ body }: Request): number => (body.wait ?? WAIT_SECONDS) * 1_000;

export interface RunStart {
  trigger: 'api' | 'page' | 'link' | 'schedule';
  inputs: Record<string, unknown>;
  createdBy: string | null;
  /** Set for a test, whose limits differ from those of a deployed run. */
  test?: Pick<NewRun['spec'], 'limits' | 'network' | 'secrets'>;
  /** For a schedule: one run per fire, in the transaction that advances the schedule. */
  fire?: { tx: PoolClient; scheduledFor: Date };
  /** Time to wait for the end of the run. Default: no wait. */
  waitMs?: number;
  requestId?: string;
  traceparent?: string | undefined;
  /** Idempotency key of the request, stored with the run. */
  idempotencyKey?: HeldKey | undefined;
  /** @throws SubjectChangedError unless the automation equals the one in the database */
  onlyIfCurrent?: true;
}

/** An automation, or the artifact that is tested. */
export type StartableSubject = Pick<CurrentVersion, 'id' | 'workspaceId' | 'status' | 'artifactId'> & {
  version: number | null;
};

/** Returns the fields of a start that come from the request. */
export const toStartRequest = (req: Request) => ({
  inputs: req.body.inputs,
  waitMs: getWaitMs(req),
  requestId: String(req.id),
  traceparent: req.get('traceparent'),
  idempotencyKey: req.idempotencyKey,
});

type StartDeps = Pick<Deps, 'engine' | 'runnables' | 'objects' | 'prisma'>;

/**
 * Starts a run. Null only for a fire that already has its run.
 * @throws AppError 409 unless it is active; 400 naming every input that is wrong
 */
export function startRun(
  deps: StartDeps,
  subject: StartableSubject,
  start: RunStart & { fire: object },
): Promise<Run | null>;
export function startRun(deps: StartDeps, subject: StartableSubject, start: RunStart): Promise<Run>;
export async function startRun(
  deps: StartDeps,
  { id, workspaceId, status, version, artifactId }: StartableSubject,
  { fire, waitMs, test, inputs, ...start }: RunStart,
): Promise<Run | null> {
  if (status !== 'active') throw conflict(status, `this automation is ${status}; activate it to run it`);
  const runnable = await deps.runnables.get(workspaceId, artifactId);
  const getUpload = start.trigger === 'link' ? null : (key: string) => findUpload(deps.prisma, workspaceId, key);
  const placed = fire
    ? { inputs: applyDefaults(runnable, inputs), files: [] }
    : await storeInputFiles(
        { objects: deps.objects, getUpload },
        workspaceId,
        runnable.manifest.inputs,
        runnable.inputs.check(inputs),
      );
  const run: NewRun = {
    ...start,
    workspaceId,
    subjectId: id,
    version,
    inputs: placed.inputs,
    kind: test ? 'test' : 'run',
    spec: { ...runnable.spec, ...test, files: placed.files },
    scheduledFor: fire?.scheduledFor,
  };
  return fire ? deps.engine.submitInTransaction(fire.tx, run) : deps.engine.submitAndWait(run, waitMs);
}

/** A newer version may need other inputs than the schedule has: the run then fails, where members see it. */
function applyDefaults(runnable: Runnable, inputs: Record<string, unknown>): Record<string, unknown> {
  try {
    return runnable.inputs.check(inputs);
  } catch {
    return inputs;
  }
}
