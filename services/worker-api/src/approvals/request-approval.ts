/** Requests an approval: before a run starts, or in the middle of its code. */

import { AppError, formatIssues, invalid } from '@gantry/errors';
import {
  addChangeHint,
  approvalRequested,
  enqueue,
  newId,
  type PendingCall,
  type RunError,
  type Suspension,
} from '@gantry/events';
import { checkDefaults, type InputItem, inputItems } from '@gantry/program';
import type { Run, RunEngine } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import type { Definition } from '../workers/definition';
import { findVersionToRun } from '../workers/worker-queries';
import { insertApproval, type NewApproval } from './approval-repository';
import { parseStoredCalls } from './held-calls';

export interface RequestDeps {
  engine: Pick<RunEngine, 'appendEventInTransaction'>;
  now: () => Date;
}

export interface ApprovalRequest {
  title: string;
  message: string | null;
  /** JSON shown to the decider. */
  data: unknown;
  /** Items like a worker's inputs, filled in by the approver. */
  form: unknown[] | null;
  /** Null: the worker version's setting applies. */
  expiresInSeconds: number | null;
  /** Null: the run is held before it starts. */
  stepOrdinal: number | null;
  /** Tool calls of an agent, whose names and arguments are in `data`. */
  calls?: PendingCall[] | undefined;
}

type ApprovalRules = Pick<Definition['approvals'], 'forbid_self' | 'public_links' | 'expires_in_seconds'>;

const EXPIRY_SECONDS_MAX = 2_592_000;
const EXPIRY_SECONDS_MIN = 1;

/**
 * Inserts the row, its announcement and an event for watchers, in the transaction that suspends the run.
 * @returns the approval's id. @throws AppError 400 for an invalid form, invalid calls or an invalid expiry
 */
export async function insertApprovalRequest(
  { engine, now }: RequestDeps,
  tx: PoolClient,
  run: Run,
  request: ApprovalRequest,
): Promise<string> {
  const form = request.form && parseForm(request.form);
  const calls = request.calls ? parseStoredCalls(request.calls, request.data) : null;
  const rules = await loadApprovalRules(tx, run.subjectId, run.version);
  const { id, title, expiresAt } = await insertWithAnnouncement(tx, {
    workspaceId: run.workspaceId,
    runId: run.id,
    candidateId: null,
    workerUid: run.subjectId,
    workerId: run.subjectRef ?? run.subjectId,
    stepOrdinal: request.stepOrdinal,
    title: request.title,
    message: request.message,
    data: request.data,
    form,
    calls,
    requestedBy: run.createdBy,
    requestedAt: now(),
    expiresInSeconds: validateExpiry(request.expiresInSeconds) ?? rules.expires_in_seconds,
    forbidSelf: rules.forbid_self,
    linkNumber: rules.public_links ? 1 : null,
    traceparent: run.traceparent,
  });
  await engine.appendEventInTransaction(tx, run.id, {
    type: 'approval',
    data: { id, status: 'pending', title, expires_at: expiresAt.toISOString() },
  });
  return id;
}

export interface CandidateRequest
  extends Pick<NewApproval, 'workspaceId' | 'runId' | 'candidateId' | 'title' | 'message' | 'data' | 'requestedBy'> {
  worker: { uid: string; id: string };
  /** The number of the version that it was made from: its rules apply. */
  version: number;
}

/**
 * Requests a decision about promoting a candidate. It has no public link, since the decision changes the worker.
 * @returns the approval's id
 */
export async function insertCandidateApproval(
  { now }: Pick<RequestDeps, 'now'>,
  tx: PoolClient,
  { worker, version, ...request }: CandidateRequest,
): Promise<string> {
  const rules = await loadApprovalRules(tx, worker.uid, version);
  const { id } = await insertWithAnnouncement(tx, {
    ...request,
    workerUid: worker.uid,
    workerId: worker.id,
    stepOrdinal: null,
    form: null,
    calls: null,
    requestedAt: now(),
    expiresInSeconds: rules.expires_in_seconds,
    forbidSelf: rules.forbid_self,
    linkNumber: null,
    traceparent: null,
  });
  return id;
}

type AnnouncedApproval = Omit<NewApproval, 'id' | 'expiresAt'> & {
  expiresInSeconds: number;
  traceparent: string | null;
};

async function insertWithAnnouncement(
  tx: PoolClient,
  { title: requestedTitle, message, expiresInSeconds, traceparent, ...approval }: AnnouncedApproval,
): Promise<Pick<NewApproval, 'id' | 'title' | 'expiresAt'>> {
  const id = newId('apr_');
  const title = replaceNul(requestedTitle);
  const expiresAt = new Date(approval.requestedAt.getTime() + expiresInSeconds * 1_000);
  const { workspaceId, runId, workerUid, workerId } = approval;
  await insertApproval(tx, { ...approval, id, title, message: message && replaceNul(message), expiresAt });
  const event = { workerUid, workerId, approvalId: id, runId, title, expiresAt: expiresAt.getTime() };
  await enqueue(tx, approvalRequested, workspaceId, event, traceparent ?? undefined);
  addChangeHint(tx, workspaceId, 'approvals', id);
  return { id, title, expiresAt };
}

/** Handles `context.approve()`: an invalid request ends the run with the reason. */
export async function suspendForApproval(
  deps: RequestDeps,
  tx: PoolClient,
  run: Run,
  suspension: Extract<Suspension, { kind: 'approve' }>,
): Promise<{ ref: string } | { refused: RunError }> {
  const { title, message, data, form, expiresInSeconds, step, calls } = suspension;
  try {
    const request = { title, message, data: data ?? null, form, expiresInSeconds, stepOrdinal: step.ordinal, calls };
    return { ref: await insertApprovalRequest(deps, tx, run, request) };
  } catch (err) {
    if (!(err instanceof AppError)) throw err;
    return { refused: { code: 'exception', type: 'ValueError', message: `context.approve(): ${err.detail}` } };
  }
}

/** Expands every shorthand. @throws AppError 400 naming every invalid position */
function parseForm(items: unknown[]): InputItem[] {
  const parsed = inputItems.safeParse(items);
  if (!parsed.success) throw invalid(formatIssues(parsed.error, ['form']));
  const form = parsed.data;
  const files = form.flatMap(({ type }, index) =>
    type === 'file' ? [{ path: `form.${index}.type`, message: 'an approval cannot ask for a file' }] : [],
  );
  const problems = [...files, ...checkDefaults(form, 'form')];
  if (problems.length) throw invalid(problems);
  return form;
}

function validateExpiry(seconds: number | null): number | null {
  if (seconds === null) return null;
  if (seconds >= EXPIRY_SECONDS_MIN && seconds <= EXPIRY_SECONDS_MAX) return seconds;
  throw invalid([{ path: 'expires_in', message: 'must be between one second and 30 days' }]);
}

/** Replaces NUL, which text columns cannot store. */
const replaceNul = (text: string): string => text.replaceAll('\0', '\ufffd');

/** Loads the rules of the version that the run began with, or that a candidate was made from. */
async function loadApprovalRules(tx: PoolClient, workerUid: string, version: number | null): Promise<ApprovalRules> {
  const found = await findVersionToRun(tx, workerUid, version);
  return { forbid_self: false, public_links: true, expires_in_seconds: 604_800, ...found?.definition.approvals };
}
