/** Rules for approvals, and their API representation. */
import { type AppError, conflict, invalid } from '@gantry/errors';
import { toApiFields } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { createInputValidator, type InputItem } from '@gantry/program';
import type { Approval, ApprovalStatus, Worker } from '../generated/prisma/client';
import { callsToApi } from './held-calls';

export type ApprovalWithWorker = Approval & { worker: Pick<Worker, 'name'> };

/** The decision becomes the result of a step, limited to 64 KB; the rest is for the decider's details. */
export const ANSWER_BYTES_MAX = 60 * 1024;

/** Null for an approval without a form. */
export const getForm = ({ form }: Pick<Approval, 'form'>): InputItem[] | null => form as InputItem[] | null;

/** @throws AppError 409 with the decider and the time, or because it has expired */
export function requirePendingApproval(approval: Approval, now: Date): void {
  if (approval.status !== 'pending') throw createAlreadyDecidedError(approval);
  if (approval.expiresAt <= now) {
    throw conflict(
      'approval_expired',
      `no decision was made in time: this approval expired at ${approval.expiresAt.toISOString()}`,
    );
  }
}

export function createAlreadyDecidedError(approval: Approval): AppError {
  const { status, decidedAt, reason } = approval;
  const when = decidedAt ? `at ${decidedAt.toISOString()}` : 'in the meantime';
  if (status === 'expired') return conflict('approval_expired', `this approval ended ${when}: ${reason}`);
  return conflict(
    'already_decided',
    `this approval was ${status} by ${getDeciderLabel(approval) ?? 'another person'} ${when}`,
  );
}

/** Returns the decider's display name: an email address, the name of a token, `link: <name>`. */
export const getDeciderLabel = ({ decidedBy, decidedByLabel }: Approval): string | null => decidedByLabel ?? decidedBy;

/**
 * Validates the approver's answers, and applies the form's defaults.
 * @throws AppError 400 naming every invalid field
 */
export function parseAnswer(form: InputItem[] | null, data: Record<string, unknown> | undefined): unknown {
  if (!form) return requireAnswerSize(data ?? null);
  const validator = createInputValidator(form);
  const problems = validator.listProblems(data ?? {});
  if (problems.length) {
    throw invalid(
      problems.map(({ path, message }) => ({
        path: path.replace(/^inputs/, 'data'),
        message: message.replace(/^unknown input/, 'unknown field'),
      })),
      'invalid_data',
    );
  }
  return requireAnswerSize(validator.check(data ?? {}));
}

export function requireAnswerSize<T>(answer: T): T {
  if (Buffer.byteLength(JSON.stringify(answer)) <= ANSWER_BYTES_MAX) return answer;
  throw invalid([{ path: 'data', message: `is larger than ${ANSWER_BYTES_MAX / 1024} KB` }], 'invalid_data');
}

/** Returns the ids of the deciding credential: the user's, and the token's. */
export const listPrincipalIds = ({ userId, tokenId }: Principal): string[] =>
  [userId, tokenId].filter((id) => id !== null);

export interface ApprovalView {
  /** True if this caller could decide it while it is pending. */
  canDecide: boolean;
  /** Null for callers who may not decide, and if there is none. */
  reviewUrl: string | null;
}

export function approvalToApi(approval: ApprovalWithWorker, { canDecide, reviewUrl }: ApprovalView) {
  const { status, decidedBy, decidedByLabel } = approval;
  return {
    ...toApiFields(approval, 'id', 'runId', 'candidateId', 'workerId', 'status', 'title', 'message', 'data'),
    ...toApiFields(approval, 'reason', 'answer', 'requestedBy', 'requestedAt', 'expiresAt'),
    ...toApiFields(approval, 'decidedAt', 'decidedByLabel'),
    kind: approval.candidateId === null ? 'run' : 'candidate',
    worker_name: approval.worker.name,
    form: getForm(approval),
    calls: callsToApi(approval),
    decided_by: decidedBy ?? decidedByLabel,
    review_url: reviewUrl,
    permissions: { decide: canDecide && status === 'pending' },
  };
}

export type DecidedStatus = Exclude<ApprovalStatus, 'pending'>;
