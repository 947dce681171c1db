import type { WorkerSchemas } from '@gantry/sdk';

export type Alert = WorkerSchemas['Alert'];
export type Delivery = WorkerSchemas['AlertDelivery'];
export type AlertType = Alert['on'][number];

/** The events of alerts, those that are wanted most often first. */
export const ALERT_TYPES: Record<AlertType, string> = {
  'run.failed': 'A run failed',
  'run.timed_out': 'A run timed out',
  'approval.requested': 'A run waits for approval',
  'schedule.missed': 'A schedule was missed',
  'connection.failed': 'A connection stopped working',
  'network.refused': 'A run asked for a host that it may not reach',
  'evaluation.failed': 'A version did not pass its evaluation',
  'run.completed': 'A run succeeded',
  'run.cancelled': 'A run was cancelled',
  'run.rejected': 'A run was rejected',
};

/** An alert takes so many of them. */
export const ALERT_TYPES_MAX = 10;

/** Automations neither ask people nor tell of their schedules. */
export const ofAutomations = (type: AlertType): boolean => type.startsWith('run.');

/** @returns for a list of events: "A run failed, a run timed out" */
export function saidOf(types: readonly AlertType[]): string {
  const text = types.map((type) => ALERT_TYPES[type].toLowerCase()).join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A URL's host alone is what people who are no admins see of it. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** Destinations of the alert: the host of its webhook, the address of its e-mail. */
export const channelsOf = ({ url, email_to }: Alert): string[] => [
  ...(url ? [`Webhook to ${hostOf(url)}`] : []),
  ...(email_to ? [`E-mail to ${email_to}`] : []),
];

export const titleOf = (alert: Alert): string => alert.description || channelsOf(alert).join(', ');
