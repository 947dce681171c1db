/** Builds suspensions for tests. */
import { newId, type Suspension } from '@gantry/events';
import type { RunEngine } from '../engine';
import type { OnSuspended } from '../waiting/suspend-run';
import { buildTestRun, type TestEngines } from './engines';

export const buildSleep = (ordinal: number, ms: number): Suspension => ({
  kind: 'sleep',
  step: { ordinal, kind: 'sleep', name: 'sleep' },
  wakeAt: Date.now() + ms,
});

export const buildApproval = (ordinal: number): Suspension => ({
  kind: 'approve',
  step: { ordinal, kind: 'approve', name: 'Publish?' },
  title: 'Publish?',
  message: null,
  data: { n: 1 },
  form: null,
  expiresInSeconds: null,
});

export const buildCall = (ordinal: number): Suspension => ({
  kind: 'call',
  step: { ordinal, kind: 'call', name: 'child' },
  workerId: 'child',
  inputs: {},
});

/** Starts a replica whose approvals are ids, and whose called runs are submitted in the same transaction. */
export async function startCallingReplica(
  engines: TestEngines,
  options: Parameters<TestEngines['replica']>[0] = {},
): Promise<RunEngine> {
  const onSuspended: OnSuspended = async (tx, run, suspension) => {
    if (suspension.kind === 'approve') return { ref: newId('apr_') };
    const child = await engine.submitInTransaction(tx, buildTestRun({ parentRunId: run.id, depth: run.depth + 1 }));
    return { ref: child?.id ?? '' };
  };
  const engine = await engines.replica({ onSuspended, ...options });
  return engine;
}
