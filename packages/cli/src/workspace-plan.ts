/**
 * Plans and applies the changes of a folder to a workspace. Deletes nothing but files of the folder's own resources.
 */
import { isDeepStrictEqual } from 'node:util';
import { createIdempotencyKey, type Gantry, paginate, readApiError, unwrap, type WorkerSchemas } from '@gantry/sdk';
import { collectItems } from './collect-items';
import { CommandError } from './errors';
import { encodeForm } from './multipart';
import { compareWithServer, findWorker, uploadFolder } from './remote-worker';
import { compareFiles, isEmpty, type SettingChange, type WorkerDiff } from './worker-diff';
import { type Alert, isSameAlert } from './workspace-alerts';
import type { LocalContext, LocalWorker, LocalWorkspace } from './workspace-folder';

export interface PlanItem {
  kind: 'context' | 'worker' | 'alert';
  /** Its id or name; of an alert what it is for. */
  name: string;
  change: 'create' | 'change' | 'same';
  diff: WorkerDiff;
  /** @returns what became of it. @throws ApiError, CommandError */
  apply(): Promise<AppliedChange>;
}

export interface AppliedChange {
  change: PlanItem['change'];
  /** To be done by a person: what the server warns of, and secrets that are shown this once. */
  notes: string[];
}

export type Plan = Awaited<ReturnType<typeof planWorkspace>>;

const toAppliedChange = (change: PlanItem['change'], notes: string[] = []): AppliedChange => ({ change, notes });

/** @throws ApiError, CommandError */
export async function planWorkspace(gantry: Gantry, local: LocalWorkspace) {
  const contexts = await collectItems(paginate(gantry.worker, '/api/contexts'));
  const alerts = await collectItems(paginate(gantry.worker, '/api/alerts'));
  const secrets = await collectItems(paginate(gantry.worker, '/api/secrets'));
  /** In the order in which they are applied: what workers declare comes before them, what is about them after them. */
  const items: PlanItem[] = [];
  for (const context of local.contexts) {
    items.push(await planContext(gantry, context, contexts.find(({ name }) => name === context.name) ?? null));
  }
  for (const worker of local.workers) items.push(await planWorker(gantry, worker));
  items.push(...planAlerts(gantry, local.alerts, alerts));
  const names = new Set(secrets.map(({ name }) => name));
  return { items, missingSecrets: local.secrets.filter((name) => !names.has(name)) };
}

async function planWorker(gantry: Gantry, { id, folder }: LocalWorker): Promise<PlanItem> {
  const worker = await findWorker(gantry, id);
  const diff = await compareWithServer(gantry, worker, folder, undefined);
  const change = !worker ? 'create' : isEmpty(diff) ? 'same' : 'change';
  return {
    kind: 'worker',
    name: id,
    change,
    diff,
    async apply() {
      if (change === 'same') return toAppliedChange('same');
      const options = worker ? { workerId: id } : { workerId: null, newId: id };
      const changed = await uploadFolder(gantry, folder, { ...options, message: undefined });
      const { webhook_url: url, webhook_signing_key: key } = changed;
      return toAppliedChange(change, [
        ...changed.warnings,
        ...(url ? [`webhook URL, shown only once: ${url}`] : []),
        ...(key ? [`signing key, shown only once: ${key}`] : []),
      ]);
    },
  };
}

type RemoteContext = WorkerSchemas['Context'];

async function planContext(gantry: Gantry, local: LocalContext, remote: RemoteContext | null): Promise<PlanItem> {
  const { name, fields, files } = local;
  const params = { path: { name } };
  // Its runs write them: what the folder has is how it begins.
  const keepsFiles = remote !== null && fields.writeable;
  const query = { content: false };
  const before =
    remote && !keepsFiles
      ? await collectItems(paginate(gantry.worker, '/api/contexts/{name}/files', { params: { ...params, query } }))
      : [];
  const diff: WorkerDiff = {
    files: keepsFiles ? [] : compareFiles(before, files),
    settings: remote ? compareFields({ ...remote }, { ...fields }) : [],
  };
  const change = !remote ? 'create' : isEmpty(diff) ? 'same' : 'change';
  return {
    kind: 'context',
    name,
    change,
    diff,
    async apply() {
      if (!remote) {
        const header = { 'Idempotency-Key': createIdempotencyKey() };
        await unwrap(gantry.worker.POST('/api/contexts', { params: { header }, body: { name, ...fields } }));
      } else if (diff.settings.length) {
        const body = Object.fromEntries(diff.settings.map(({ field, after }) => [field, after]));
        await unwrap(gantry.worker.PATCH('/api/contexts/{name}', { params, body }));
      }
      const notes = await writeContextFiles(gantry, name, diff);
      return toAppliedChange(change, notes);
    },
  };
}

/** @returns what the server warns of */
async function writeContextFiles(gantry: Gantry, name: string, { files }: WorkerDiff): Promise<string[]> {
  const written = files.flatMap(({ after }) => after ?? []);
  const deleted = files.filter(({ change }) => change === 'deleted');
  const warnings: string[] = [];
  // Before the new ones: where a file becomes a folder, both cannot be there.
  if (deleted.length) {
    const body = { files: deleted.map(({ path }) => ({ path, delete: true })) };
    await unwrap(gantry.worker.PUT('/api/contexts/{name}/files', { params: { path: { name } }, body }));
  }
  if (written.length) {
    const { writeZip } = await import('@gantry/archive');
    const file = { field: 'zip', name: 'files.zip', type: 'application/zip', content: await writeZip(written) };
    const form = encodeForm({}, file);
    const path = `/api/contexts/${encodeURIComponent(name)}/upload?extract=true`;
    const headers = { 'Content-Type': form.type, 'Idempotency-Key': createIdempotencyKey() };
    const response = await gantry.request('worker', path, { method: 'POST', headers, body: form.bytes });
    if (!response.ok) throw await readApiError(response);
    warnings.push(...(((await response.json()) as RemoteContext).warnings ?? []));
  }
  return warnings;
}

/** Pairs those that are equal first, then those that are one alert with other fields. */
function planAlerts(gantry: Gantry, local: Alert[], remote: WorkerSchemas['Alert'][]): PlanItem[] {
  const unmatched = remote.filter(({ automation_id: automation }) => automation === null);
  const removeMatch = (isMatch: (one: WorkerSchemas['Alert']) => boolean) => {
    const index = unmatched.findIndex(isMatch);
    return index < 0 ? null : (unmatched.splice(index, 1)[0] ?? null);
  };
  const exactMatches = local.map((alert) =>
    removeMatch((one) => isSameAlert(alert, one) && !compareFields({ ...one }, toAlertFields(alert)).length),
  );
  return local.map((alert, index) => {
    const found = exactMatches[index] ?? removeMatch((one) => isSameAlert(alert, one));
    return planAlert(gantry, alert, found ?? null);
  });
}

const toAlertFields = ({ on, description, enabled }: Alert) => ({ on: [...on].sort(), description, enabled });

function planAlert(gantry: Gantry, alert: Alert, remote: WorkerSchemas['Alert'] | null): PlanItem {
  const settings = remote ? compareFields({ ...remote }, toAlertFields(alert)) : [];
  const change = !remote ? 'create' : settings.length ? 'change' : 'same';
  if (!remote && alert.missingVariable) {
    throw new CommandError(
      `${alert.place}: the alert is new, but ${alert.missingVariable}, which contains its url, is not set`,
      undefined,
      `Set it in the environment: ${alert.missingVariable}=https://... gantry apply`,
    );
  }
  return {
    kind: 'alert',
    name: `${alert.worker ?? 'all workers'} to ${[alert.host, alert.email_to].filter(Boolean).join(' and ')}`,
    change,
    diff: { files: [], settings },
    async apply() {
      const fields = toAlertFields(alert);
      if (remote) {
        const params = { path: { alert_id: remote.id } };
        if (change !== 'same') await unwrap(gantry.worker.PATCH('/api/alerts/{alert_id}', { params, body: fields }));
        return toAppliedChange(change);
      }
      const body = {
        ...fields,
        ...(alert.worker !== null && { worker_id: alert.worker }),
        ...(alert.url !== null && { url: alert.url }),
        ...(alert.email_to !== null && { email_to: alert.email_to }),
      };
      const header = { 'Idempotency-Key': createIdempotencyKey() };
      const { secret } = await unwrap(gantry.worker.POST('/api/alerts', { params: { header }, body }));
      return toAppliedChange(change, secret ? [`signing secret, shown only once: ${secret}`] : []);
    },
  };
}

/** Lists are compared in any order. */
function compareFields(before: Record<string, unknown>, after: Record<string, unknown>): SettingChange[] {
  const sortIfArray = (value: unknown) => (Array.isArray(value) ? [...value].sort() : value);
  return Object.entries(after).flatMap(([field, value]) =>
    isDeepStrictEqual(sortIfArray(before[field]), sortIfArray(value))
      ? []
      : [{ field, before: before[field], after: value }],
  );
}
