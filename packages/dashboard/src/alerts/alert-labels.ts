import type { WorkerSchemas } from '@gantry/sdk';
import { upperFirst } from '@mantine/hooks';

export type Alert = WorkerSchemas['Alert'];
export type Delivery = WorkerSchemas['AlertDelivery'];
export type AlertType = Alert['on'][number];

/** The events of alerts, most frequently chosen first. */
export const ALERT_TYPE_LABELS: Record<AlertType, string> = {
  'run.failed': 'A run failed',
  'run.timed_out': 'A run timed out',
  'approval.requested': 'A run is waiting for approval',
  'schedule.missed': 'A scheduled run was missed',
  'connection.failed': 'A connection stopped working',
  'network.refused': 'A run was denied access to a host',
  'evaluation.failed': 'A version failed its evaluation',
  'run.completed': 'A run succeeded',
  'run.cancelled': 'A run was cancelled',
  'run.rejected': 'A run was rejected',
};

/** Maximum number of events of one alert. */
export const ALERT_TYPES_MAX = 10;

/** Automations have neither approvals nor schedule events. */
export const isAutomationAlertType = (type: AlertType): boolean => type.startsWith('run.');

/** @returns for a list of events: "A run failed, a run timed out" */
export const formatAlertTypes = (types: readonly AlertType[]): string =>
  upperFirst(types.map((type) => ALERT_TYPE_LABELS[type].toLowerCase()).join(', '));

/** Members who are not admins see only the host of a webhook URL. */
export function getUrlHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
