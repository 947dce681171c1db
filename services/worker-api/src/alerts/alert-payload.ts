/** What a receiver is told, as Standard Webhooks have it: `{type, timestamp, data}`. */
import type { AlertType } from './alert';

export interface AlertPayload {
  type: AlertType;
  /** ISO 8601, of what happened. */
  timestamp: string;
  data: AlertData;
}

/** Fields that say nothing about this type are absent. */
export interface AlertData {
  alert_id: string;
  workspace_id: string;
  /** Slug and name; null where it is about an automation. */
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
  /** `review_url` is put in when it is sent, while the approval waits and has a link. */
  approval?: { id: string; title: string; expires_at: string; review_url?: string };
  schedule?: { missed: number; since: string; started_late: number };
  /** Made by hand, to see that it arrives. */
  test?: true;
}

/** What happened, before it is known whom it concerns. */
export type Occurrence = Omit<AlertData, 'alert_id' | 'workspace_id'>;

/** Long enough for a message and a good part of its traceback. */
const ERROR_CHARS_MAX = 4_000;

export function shortError(code: string | null, message: string | null): AlertData['error'] {
  if (code === null && message === null) return null;
  return { code, message: message === null ? null : message.slice(0, ERROR_CHARS_MAX) };
}

export interface Addresses {
  baseUrl: string;
  dashboardUrl: string;
}

/** Where a run can be looked at: on the page of its automation; a worker's, which has no page, by the API. */
export function runUrl(
  { baseUrl, dashboardUrl }: Addresses,
  about: { automationId: string | null; runId: string },
): string {
  if (about.automationId === null) return `${baseUrl}/api/runs/${about.runId}`;
  return `${dashboardUrl}/a/${about.automationId}?run=${about.runId}`;
}
