import { newId } from '@gantry/events';
import type { AlertWithWorker } from './alert';
import type { AlertDeps } from './alert-deps';
import { type AlertOccurrence, type AlertPayload, buildEvaluationUrl, buildRunUrl } from './alert-payload';
import type { AlertType } from './alert-type';
import { listChannels } from './channels';
import type { ChannelDeps } from './channels/channel';
import { sendDelivery } from './send-delivery';

/** Sends a sample by each of the alert's channels, even if it is disabled; nothing is stored or retried. */
export async function testAlert(deps: ChannelDeps, alert: AlertWithWorker) {
  const body = JSON.stringify(buildSamplePayload(deps, alert));
  const results = await Promise.all(
    listChannels(alert).map(async (channel) => {
      const sent = await sendDelivery(deps, { ...alert, id: newId('dlv_'), alertId: alert.id, channel, body });
      return { channel, ok: sent.error === null, ...sent };
    }),
  );
  const [first] = results;
  const worst = results.find(({ ok }) => !ok) ?? first;
  return {
    ok: results.every(({ ok }) => ok),
    status: worst?.status ?? null,
    error: worst?.error ?? null,
    duration_ms: Math.max(...results.map(({ duration_ms }) => duration_ms)),
    channels: results,
  };
}

function buildSamplePayload(deps: SampleDeps, alert: AlertWithWorker): AlertPayload {
  const now = deps.now();
  const type = alert.on[0] as AlertType;
  const subject = {
    worker_id: alert.automationId === null ? (alert.worker?.id ?? 'a-worker') : null,
    worker_name: null,
    automation_id: alert.automationId,
  };
  return {
    type,
    timestamp: now.toISOString(),
    data: {
      alert_id: alert.id,
      workspace_id: alert.workspaceId,
      ...subject,
      ...buildSample(type, deps, subject, now),
      test: true,
    },
  };
}

const SAMPLE_RUN_ID = 'run_of_a_test';

type SampleDeps = Pick<AlertDeps, 'dashboardUrl' | 'now'>;
type SubjectFields = Pick<AlertOccurrence, 'worker_id' | 'automation_id'>;

function buildSample(type: AlertType, deps: SampleDeps, subject: SubjectFields, now: Date): Partial<AlertOccurrence> {
  if (type === 'schedule.missed') return { schedule: { missed: 1, since: now.toISOString(), started_late: 0 } };
  if (type === 'connection.failed') {
    const problem = 'the provider returned an error: invalid_grant: this is a sample; nothing is wrong';
    const url = `${deps.dashboardUrl}/connections`;
    return { connection: { id: 'con_of_a_test', app: 'github', label: 'GitHub', status: 'expired', problem, url } };
  }
  if (type === 'evaluation.failed') {
    const url = buildEvaluationUrl(deps, subject.worker_id ?? 'a-worker', 'eval_of_a_test');
    const found = { passed: 3, failed: 1, errors: 0, total: 4, error: null };
    return { evaluation: { id: 'eval_of_a_test', version: 1, sha: '0'.repeat(64), ...found, url } };
  }
  const run = {
    run_id: SAMPLE_RUN_ID,
    run_url: buildRunUrl(deps, { automationId: subject.automation_id, runId: SAMPLE_RUN_ID }),
  };
  if (type === 'approval.requested') {
    const expiresAt = new Date(now.getTime() + 86_400_000).toISOString();
    return { ...run, approval: { id: 'apr_of_a_test', title: 'Is this OK to send?', expires_at: expiresAt } };
  }
  if (type === 'network.refused') {
    return { ...run, request: { host: 'example.com', port: 443, reason: "it is not in this worker's network.allow" } };
  }
  const failed = type === 'run.failed' || type === 'run.timed_out';
  return {
    ...run,
    status: type.slice('run.'.length),
    error: failed ? { code: 'exception', message: 'ValueError: this is a sample; nothing is wrong' } : null,
    trigger: 'api',
    duration_ms: 1_234,
    cost_usd: 0,
  };
}
