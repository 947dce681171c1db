/** A conversation with an agent worker, as the API shows it. */

import { toApiFields } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import type { RunOutcome } from '@gantry/run-engine';
import { canManage, findOwnerId, type OwnedResource } from '../access/ownership';
import type { WorkerConversation as WorkerConversationRow } from '../generated/prisma/client';
import { toRunOutput } from '../runs/output-object';
import { toApiStatus } from '../workers/run-status';

export interface WorkerConversation extends Omit<WorkerConversationRow, 'workspaceId' | 'workerUid' | 'inputs'> {
  inputs: Record<string, unknown>;
}

export interface Turn {
  number: number;
  message: string;
  /** Earlier messages that the run was not given. */
  leftOut: number;
  run: RunOutcome;
}

/** Outputs up to this size, in bytes of JSON, are shown as answers. */
export const ANSWER_BYTES_MAX = 64 * 1024;

export const canDelete = (caller: Principal, worker: OwnedResource, { createdBy }: WorkerConversation): boolean =>
  canManage(caller, worker) || (createdBy !== null && createdBy === findOwnerId(caller));

export const conversationSummaryToApi = (
  caller: Principal,
  worker: OwnedResource & { id: string },
  conversation: WorkerConversation,
) => ({
  ...toApiFields(conversation, 'id', 'createdBy', 'createdAt', 'updatedAt'),
  worker_id: worker.id,
  title: conversation.title || 'New conversation',
  permissions: { delete: canDelete(caller, worker, conversation) },
});

export const conversationToApi = (
  caller: Principal,
  worker: OwnedResource & { id: string },
  conversation: WorkerConversation,
  turns: Turn[],
) => ({
  ...conversationSummaryToApi(caller, worker, conversation),
  inputs: conversation.inputs,
  turns: turns.map(turnToApi),
});

export const turnToApi = ({ run, ...turn }: Turn) => ({
  ...toApiFields(turn, 'number', 'message', 'leftOut'),
  ...toApiFields(run, 'createdBy', 'createdAt'),
  run_id: run.id,
  status: toApiStatus(run.status),
  answer: toAnswer(run),
  error: run.error?.message ?? null,
  ended_at: run.finishedAt?.toISOString() ?? null,
});

/** The text that the agent returned, or its output as JSON; null: none, or too large. */
export function toAnswer(run: RunOutcome): string | null {
  const output = run.hasOutput ? toRunOutput(run, run.output) : null;
  if (output === null) return null;
  return typeof output.text === 'string' ? output.text : JSON.stringify(output);
}
