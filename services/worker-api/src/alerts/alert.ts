/** Validation of alerts, and their API representation. */
import { conflict, invalid, runChecks } from '@gantry/errors';
import { type OperationCall, toApiFields } from '@gantry/http';
import { hasRoleAtLeast, type Principal } from '@gantry/limits';
import { checkOutboundUrl, OutboundFailed } from '@gantry/safe-fetch';
import { normaliseEmail } from '../accounts/users/email';
import type { Alert, Worker } from '../generated/prisma/client';

const runAlertTypes = ['run.completed', 'run.failed', 'run.timed_out', 'run.cancelled', 'run.rejected'] as const;
const alertTypes = [
  ...runAlertTypes,
  'approval.requested',
  'schedule.missed',
  'connection.failed',
  'network.refused',
  'evaluation.failed',
] as const;
export type AlertType = (typeof alertTypes)[number];

export type AlertInput = OperationCall<'worker', 'updateAlert'>['body'];

export type AlertFields = Pick<Alert, 'on' | 'url' | 'emailTo' | 'description' | 'enabled' | 'automationId'>;

export type AlertWithWorker = Alert & { worker: Pick<Worker, 'id'> | null };

export interface AlertRules {
  mailIsConfigured: boolean;
  /** It is for one worker. */
  isOfWorker: boolean;
  /** Private networks that webhooks may reach. */
  outboundAllow: string[];
}

/**
 * The alert after the change, validated.
 * @throws AppError 400 naming the field; 409 for an e-mail address if no e-mail can be sent
 */
export function applyAlertInput(input: AlertInput, rules: AlertRules, before: AlertFields): AlertFields {
  const after: AlertFields = {
    on: input.on ?? before.on,
    url: input.url === undefined ? before.url : input.url,
    emailTo: input.email_to === undefined ? before.emailTo : input.email_to,
    description: input.description ?? before.description,
    enabled: input.enabled ?? before.enabled,
    automationId: before.automationId,
  };
  const [url, emailTo] = runChecks(
    () => (input.url ? parseAlertUrl(input.url, rules.outboundAllow) : after.url),
    () => (input.email_to ? parseAlertEmail(input.email_to, rules.mailIsConfigured) : after.emailTo),
    () => requireChannel(after),
    () => assertRaisableTypes(after, rules.isOfWorker),
  );
  return { ...after, url, emailTo };
}

function requireChannel({ url, emailTo }: AlertFields): void {
  if (url === null && emailTo === null) {
    throw invalid([{ path: 'url', message: 'an alert needs a url, an email_to or both' }]);
  }
}

/** For automations only the ends of runs are announced. */
function assertRaisableTypes({ on, automationId }: AlertFields, isOfWorker: boolean): void {
  if (isOfWorker && on.includes('connection.failed')) {
    const message = 'connection.failed is of no worker alone: an alert for the whole workspace may have it';
    throw invalid([{ path: 'on', message }]);
  }
  const unraisedType = automationId === null ? undefined : on.find((type) => !type.startsWith('run.'));
  if (unraisedType === undefined) return;
  const message = `${unraisedType} is only raised for workers; an automation's alert may have ${runAlertTypes.join(', ')}`;
  throw invalid([{ path: 'on', message }]);
}

function parseAlertUrl(url: string, allow: string[]): string {
  try {
    return checkOutboundUrl(url, { allow }).href;
  } catch (err) {
    if (err instanceof OutboundFailed) throw invalid([{ path: 'url', message: err.message }], err.code);
    throw err;
  }
}

function parseAlertEmail(text: string, mailIsConfigured: boolean): string {
  const email = normaliseEmail(text);
  if (email === null) throw invalid([{ path: 'email_to', message: 'must be one e-mail address' }]);
  if (!mailIsConfigured) {
    throw conflict(
      'mail_not_configured',
      'email_to: this installation sends no e-mail; its operator sets SMTP_URL (see docs/running.md), or use a url',
    );
  }
  return email;
}

/** Path and query of a webhook's URL are often its receiver's only secret: shown only to callers who may change it. */
const toVisibleUrl = (url: string | null, caller: Principal): string | null =>
  url === null || hasRoleAtLeast(caller.role, 'admin') ? url : `${new URL(url).origin}/…`;

export function alertToApi(alert: AlertWithWorker, caller: Principal) {
  return {
    ...toApiFields(alert, 'id', 'automationId', 'on', 'emailTo', 'description', 'enabled', 'disabledReason'),
    ...toApiFields(alert, 'createdBy', 'createdAt', 'updatedAt'),
    worker_id: alert.worker?.id ?? null,
    url: toVisibleUrl(alert.url, caller),
  };
}
