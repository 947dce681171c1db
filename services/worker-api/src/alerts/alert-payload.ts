/** Describes the message to a receiver, in the format of Standard Webhooks: `{type, timestamp, data}`. */

import type { evaluationFailed } from '@gantry/events';
import type { z } from 'zod';
import type { AlertDeps } from './alert-deps';
import type { AlertType } from './alert-type';

type EvaluationFailure = z.infer<(typeof evaluationFailed)['data']>;

export interface AlertPayload {
  type: AlertType;
  /** ISO 8601, time of the event. */
  timestamp: string;
  data: AlertData;
}

/** Fields that do not apply to the type are absent. */
export interface AlertData {
  alert_id: string;
  workspace_id: string;
  /** Slug and name; null for an automation's alert. */
  worker_id: string | null;
  worker_name: string | null;
  automation_id: string | null;
  run_id?: string;
  run_url?: string;
  status?: string;
  /** Secrets were masked when the run ended. */
  error?: { code: string | null; message: string | null } | null;
  trigger?: string | null;
  duration_ms?: number | null;
  cost_usd?: number | null;
  /** `review_url` is inserted on sending, if the approval is pending and has a link. */
  approval?: { id: string; title: string; expires_at: string; review_url?: string };
  schedule?: { missed: number; since: string; started_late: number };
  /** `url` is the page where it is repaired. */
  connection?: { id: string; app: string; label: string; status: string; problem: string; url: string };
  /** The first of the run that a rule for the network refused; `reason` is the rule, as a clause about the host. */
  request?: { host: string; port: number; reason: string };
  /** The evaluation of a version; `error` where no example could be run. */
  evaluation?: Omit<EvaluationFailure, 'workerUid' | 'workerId' | 'evaluationId'> & { id: string; url: string };
  /** Sent by hand, to test the channel. */
  test?: true;
}

/** An event, before its recipients are known. */
export type AlertOccurrence = Omit<AlertData, 'alert_id' | 'workspace_id'>;

/** Enough for a message and most of its traceback. */
const ERROR_CHARS_MAX = 4_000;

export function truncateError(code: string | null, message: string | null): AlertData['error'] {
  if (code === null && message === null) return null;
  return { code, message: message === null ? null : message.slice(0, ERROR_CHARS_MAX) };
}

/** Returns the page of a run: its automation's, or its own for a worker's run. */
export function buildRunUrl(
  { dashboardUrl }: Pick<AlertDeps, 'dashboardUrl'>,
  about: { automationId: string | null; runId: string },
): string {
  if (about.automationId === null) return `${dashboardUrl}/runs/${about.runId}`;
  return `${dashboardUrl}/a/${about.automationId}?run=${about.runId}`;
}

export const buildEvaluationUrl = (
  { dashboardUrl }: Pick<AlertDeps, 'dashboardUrl'>,
  workerId: string,
  evaluationId: string,
): string => `${dashboardUrl}/workers/${workerId}/evaluations/${evaluationId}`;
