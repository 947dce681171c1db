/** Validation of alerts, and their API representation. */
import { invalid, runChecks } from '@gantry/errors';
import { type OperationCall, toApiFields } from '@gantry/http';
import { hasRoleAtLeast, type Principal } from '@gantry/limits';
import type { Alert, Worker } from '../generated/prisma/client';
import type { AlertDeps } from './alert-deps';
import type { AlertType } from './alert-type';
import { addressesToApi, mergeAddresses, parseAddresses, requireAddress } from './channels';
import type { AlertAddresses } from './channels/channel';

export type AlertInput = OperationCall<'worker', 'updateAlert'>['body'];

export type AlertFields = AlertAddresses & Pick<Alert, 'on' | 'description' | 'enabled' | 'automationId'>;

export type AlertWithWorker = Alert & { worker: Pick<Worker, 'id'> | null };

/**
 * The alert after the change, validated.
 * @throws AppError 400 naming the field; what the channels throw for their addresses
 */
export function applyAlertInput(
  deps: Pick<AlertDeps, 'mailer' | 'outboundAllow'>,
  input: AlertInput,
  currentAlert: AlertFields,
  { isOfWorker }: { isOfWorker: boolean },
): AlertFields {
  const merged = mergeAddresses(input, currentAlert);
  const after = {
    on: input.on ?? currentAlert.on,
    description: input.description ?? currentAlert.description,
    enabled: input.enabled ?? currentAlert.enabled,
    automationId: currentAlert.automationId,
  };
  const [addresses] = runChecks(
    () => parseAddresses(input, merged, deps),
    () => requireAddress(merged),
    () => assertRaisableTypes(after, isOfWorker),
  );
  return { ...after, ...addresses };
}

const RUN_ALERT_TYPES: AlertType[] = ['run.completed', 'run.failed', 'run.timed_out', 'run.cancelled', 'run.rejected'];

/** For automations only the ends of runs are announced. */
function assertRaisableTypes(
  { on, automationId }: Pick<AlertFields, 'on' | 'automationId'>,
  isOfWorker: boolean,
): void {
  if (isOfWorker && on.includes('connection.failed')) {
    const message = 'connection.failed is not specific to one worker; use it in an alert for the whole workspace';
    throw invalid([{ path: 'on', message }]);
  }
  const unraisedType = automationId === null ? undefined : on.find((type) => !type.startsWith('run.'));
  if (unraisedType === undefined) return;
  const message = `${unraisedType} is raised only for workers; an automation alert can use ${RUN_ALERT_TYPES.join(', ')}`;
  throw invalid([{ path: 'on', message }]);
}

export function alertToApi(alert: AlertWithWorker, caller: Principal) {
  return {
    ...toApiFields(alert, 'id', 'automationId', 'on', 'description', 'enabled', 'disabledReason'),
    ...toApiFields(alert, 'createdBy', 'createdAt', 'updatedAt'),
    worker_id: alert.worker?.id ?? null,
    ...addressesToApi(alert, { isMasked: !hasRoleAtLeast(caller.role, 'admin') }),
  };
}
