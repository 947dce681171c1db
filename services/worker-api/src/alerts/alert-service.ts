import { conflict, invalid, notFound } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall, Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import { getVisibleWorker } from '../workers/worker-repository';
import { type AlertInput, type AlertWithWorker, applyAlertInput } from './alert';
import type { AlertDeps } from './alert-deps';
import { deleteAlert, getAlert, insertAlert, lockAlert, updateAlert } from './alert-repository';
import {
  type Channel,
  EMPTY_ADDRESSES,
  isSigningRequired,
  listChannels,
  mergeAddresses,
  signedFields,
} from './channels';
import { deadLetterPendingDeliveries } from './delivery-repository';
import { rotateSigningSecret } from './signing-secrets';

const ALERTS_PER_SUBJECT_MAX = 50;

/**
 * Includes the webhook signing secret, shown only once; null for an alert that signs nothing or has an unchanged
 * secret.
 */
export interface AlertWithSecret {
  alert: AlertWithWorker;
  secret: string | null;
}

/** @throws AppError 404 for an unknown worker */
export async function createAlert(
  deps: AlertDeps,
  { caller, actor, markCreated }: Requester,
  input: OperationCall<'worker', 'createAlert'>['body'],
): Promise<AlertWithSecret> {
  const { workspaceId } = caller;
  const { worker_id: workerId, automation_id: automationId = null } = input;
  if (workerId !== undefined && automationId !== null) {
    throw invalid([{ path: 'automation_id', message: 'an alert can be for a worker or an automation, but not both' }]);
  }
  const worker = workerId === undefined ? null : await getVisibleWorker(deps.prisma, caller, workerId);
  // One worker, one automation, or the whole workspace if neither is given.
  const subject = { workerUid: worker?.uid ?? null, automationId };
  const fields = applyAlertInput(deps, input, { ...DEFAULT_FIELDS, automationId }, { isOfWorker: worker !== null });
  const id = newId('alrt_');
  const rotated = isSigningRequired(fields)
    ? await rotateSigningSecret(deps.vault, { id, workspaceId, signingKey: null }, deps.now())
    : null;
  const alert = await transaction(deps.prisma, async (tx) => {
    if ((await tx.alert.count({ where: { workspaceId, ...subject } })) >= ALERTS_PER_SUBJECT_MAX) {
      throw conflict(
        'too_many_alerts',
        `there are already ${ALERTS_PER_SUBJECT_MAX} alerts for this worker, for this automation or for the whole workspace; delete some of those first`,
      );
    }
    const inserted = await insertAlert(tx, {
      id,
      workspaceId,
      ...subject,
      ...fields,
      signingKey: rotated?.signingKey ?? null,
      createdBy: findOwnerId(caller),
    });
    await recordChange(tx, actor, 'alert.created', { workspaceId, id }, toAuditDetails(inserted));
    await markCreated(tx, id);
    return inserted;
  });
  return { alert, secret: rotated?.secret ?? null };
}

/**
 * Pending deliveries by a channel that the alert loses, or by all channels of a disabled alert, end as dead letters.
 */
export async function editAlert(
  deps: AlertDeps,
  { caller, actor }: Requester,
  alertId: string,
  input: AlertInput,
): Promise<AlertWithSecret> {
  const { workspaceId } = caller;
  const rotated = await rotateSecretIfNeeded(deps, await getAlert(deps.prisma, workspaceId, caller, alertId), input);
  const alert = await transaction(deps.prisma, async (tx) => {
    const before = await lockAlert(tx, workspaceId, caller, alertId);
    const isOfWorker = before.worker !== null;
    const { automationId: _, ...fields } = applyAlertInput(deps, input, before, { isOfWorker });
    const changed = await updateAlert(tx, workspaceId, alertId, {
      ...fields,
      ...(fields.enabled && { disabledReason: null }),
      ...(rotated && { signingKey: rotated.signingKey }),
    });
    const remainingChannels: Channel[] = changed.enabled ? listChannels(changed) : [];
    // Bounded: an alert has as many channels as `channels` lists.
    const ended = listChannels(before).filter((channel) => !remainingChannels.includes(channel));
    if (ended.length) await deadLetterPendingDeliveries(tx, alertId, ended, deps.now());
    const details = { ...toAuditDetails(changed), ...(input.secret_rotate && { secret: 'rotated' }) };
    await recordChange(tx, actor, 'alert.updated', { workspaceId, id: alertId }, details);
    return changed;
  });
  return { alert, secret: rotated?.secret ?? null };
}

/** Null if the alert keeps its secret, or needs none. */
async function rotateSecretIfNeeded({ vault, now }: AlertDeps, alert: AlertWithWorker, input: AlertInput) {
  if (!isSigningRequired(mergeAddresses(input, alert))) {
    if (!input.secret_rotate) return null;
    const message = `the alert has no ${signedFields.join(' or ')}, so nothing is signed`;
    throw invalid([{ path: 'secret_rotate', message }]);
  }
  return alert.signingKey === null || input.secret_rotate ? rotateSigningSecret(vault, alert, now()) : null;
}

export async function removeAlert(deps: AlertDeps, { caller, actor }: Requester, alertId: string): Promise<void> {
  const { workspaceId } = caller;
  const alert = await getAlert(deps.prisma, workspaceId, caller, alertId);
  await transaction(deps.prisma, async (tx) => {
    if (!(await deleteAlert(tx, workspaceId, alertId))) throw notFound('alert', alertId);
    await recordChange(tx, actor, 'alert.deleted', { workspaceId, id: alertId }, toAuditDetails(alert));
  });
}

const DEFAULT_FIELDS = { on: [], ...EMPTY_ADDRESSES, description: '', enabled: true };

const toAuditDetails = (alert: AlertWithWorker) => ({
  worker_id: alert.worker?.id ?? null,
  automation_id: alert.automationId,
  on: alert.on,
  channels: listChannels(alert),
  enabled: alert.enabled,
});
