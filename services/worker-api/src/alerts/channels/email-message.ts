/** An alert as an email: the event, its subject and reason, a link, and how to disable the alert. */
import type { EmailMessage } from '../../mail/mailer';
import type { AlertData, AlertPayload } from '../alert-payload';
import type { AlertType } from '../alert-type';

const EVENT_PHRASES: Record<AlertType, string> = {
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.timed_out': 'timed out',
  'run.cancelled': 'was cancelled',
  'run.rejected': 'was rejected',
  'approval.requested': 'is waiting for approval',
  'schedule.missed': 'missed its schedule',
  'connection.failed': 'no longer works',
  'network.refused': 'tried to reach a host that it is not allowed to reach',
  'evaluation.failed': 'did not pass its evaluation',
};

const SUBJECT_REASON_CHARS = 80;
const DISPLAYED_USD_MIN = 0.0001;

export function formatAlertEmail(
  alert: { emailTo: string; description: string; dashboardUrl: string },
  { type, timestamp, data }: AlertPayload,
): EmailMessage {
  const subjectName = data.worker_name ?? data.worker_id ?? data.automation_id ?? data.connection?.label ?? 'A run';
  const summary = `${subjectName} ${EVENT_PHRASES[type]}`;
  const { error, approval, connection, request, evaluation } = data;
  const reason =
    error?.message ??
    approval?.title ??
    connection?.problem ??
    (request && formatRefusedRequest(request)) ??
    (evaluation && formatEvaluation(evaluation));
  const firstLine = reason?.trim().split('\n')[0]?.slice(0, SUBJECT_REASON_CHARS);
  const facts = listDetails(data, timestamp).flatMap(([name, value]) =>
    value ? [`${`${name}:`.padEnd(12)}${value}`] : [],
  );
  return {
    to: alert.emailTo,
    subject: `${data.test ? '[Test] ' : ''}${summary}${firstLine ? `: ${firstLine}` : ''}`,
    text: [
      ...(data.test ? ['This is a test alert; no event has occurred.', ''] : []),
      `${summary}.`,
      ...(reason ? ['', reason.trim()] : []),
      '',
      ...facts,
      '',
      '-- ',
      `You are receiving this email because of the alert ${alert.description ? `"${alert.description}" ` : ''}(${data.alert_id}) in workspace`,
      `${data.workspace_id} on ${alert.dashboardUrl}. A workspace admin can disable the alert with`,
      `PATCH /api/alerts/${data.alert_id} {"enabled": false}, or change its recipient.`,
      '',
    ].join('\n'),
  };
}

function listDetails(data: AlertData, timestamp: string): [name: string, value: string | null | undefined][] {
  const { approval, schedule, connection, evaluation } = data;
  return [
    ['Worker', data.worker_id && (data.worker_name ? `${data.worker_name} (${data.worker_id})` : data.worker_id)],
    ['Automation', data.automation_id],
    ['Run', data.run_id],
    ['Error', data.error?.code],
    ['Trigger', data.trigger],
    ['Took', data.duration_ms == null ? null : formatDuration(data.duration_ms)],
    ['Cost', data.cost_usd && data.cost_usd >= DISPLAYED_USD_MIN ? `$${data.cost_usd.toFixed(4)}` : null],
    ['Missed', schedule && `${schedule.missed} since ${schedule.since}; ${schedule.started_late} of them started late`],
    ['Decide by', approval?.expires_at],
    ['Decide', approval?.review_url],
    ['Connection', connection && `${connection.app} (${connection.id})`],
    ['Mend', connection?.url],
    ['At', timestamp],
    ['Look', data.run_url ?? evaluation?.url],
  ];
}

const formatRefusedRequest = ({ host, port, reason }: NonNullable<AlertData['request']>): string =>
  `${host}:${port}: ${reason}`;

const formatDuration = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

const formatEvaluation = ({ passed, total, version, error }: NonNullable<AlertData['evaluation']>): string =>
  error ?? `${passed} of ${total} examples passed on version ${version}`;
