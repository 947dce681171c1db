import type { HeldKey } from '@gantry/http';
import { placeFiles } from '@gantry/program';
import type { NewRun, Run, RunEngine } from '@gantry/run-engine';
import type { Request } from 'express';
import type { Runnable } from '../artifacts/runnable';
import { getUpload } from '../artifacts/upload-repository';
import type { Deps } from '../deps';

/** api-spec.md, Limits. The OpenAPI file bounds what a caller may ask for. */
const WAIT_SECONDS = 10;

export const waitSecondsOf = ({ body }: Request): number => body.wait ?? WAIT_SECONDS;

export interface Start {
  workspaceId: string;
  subjectId: string;
  trigger: 'api' | 'page' | 'link';
  version: number | null;
  runnable: Runnable;
  inputs: Record<string, unknown>;
  /** Set for a test: what it may do differs from a deployed run. */
  test?: Pick<NewRun['spec'], 'limits' | 'network' | 'secrets'>;
  createdBy: string | null;
  waitSeconds: number;
  requestId: string;
  traceparent: string | undefined;
  onlyIfCurrent?: true;
  /** Of the request; marked with the run. */
  idempotencyKey?: HeldKey | undefined;
}

/** @throws AppError 400 naming every input that is wrong */
export async function startRun(deps: Deps, start: Start): Promise<Run> {
  const { runnable, workspaceId, trigger } = start;
  const checked = runnable.inputs.check(start.inputs);
  const places = {
    objects: deps.objects,
    getUpload: trigger === 'link' ? null : (key: string) => getUpload(deps.prisma, workspaceId, key),
  };
  const { inputs, files } = await placeFiles(places, workspaceId, runnable.manifest.inputs, checked);
  return submit(
    deps.engine,
    {
      workspaceId,
      subjectId: start.subjectId,
      kind: start.test ? 'test' : 'run',
      trigger,
      version: start.version,
      inputs,
      spec: { ...runnable.spec, ...start.test, files },
      createdBy: start.createdBy,
      requestId: start.requestId,
      traceparent: start.traceparent,
      ...(start.onlyIfCurrent && { onlyIfCurrent: true }),
      ...(start.idempotencyKey && { idempotencyKey: start.idempotencyKey }),
    },
    start.waitSeconds,
  );
}

const submit = (engine: RunEngine, run: NewRun, waitSeconds: number): Promise<Run> =>
  waitSeconds > 0 ? engine.submitAndWait(run, waitSeconds * 1_000) : engine.submit(run);
