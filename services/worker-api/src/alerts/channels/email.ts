import { conflict, invalid } from '@gantry/errors';
import { normaliseEmail } from '../../accounts/users/email';
import { MailError } from '../../mail/mailer';
import type { AlertDeps } from '../alert-deps';
import type { AlertPayload } from '../alert-payload';
import { type AlertChannel, type ChannelDeps, type OutgoingAlert, type SendResult, toFailedResult } from './channel';
import { formatAlertEmail } from './email-message';

/** For all steps of SMTP together; a server may answer each of them slowly. */
const TIMEOUT_MS = 20_000;
/** Without it, a worker that fails every second would get the shared mail server blocked. */
const EMAILS_PER_HOUR_MAX = 100;

export const email = {
  field: 'email_to',
  column: 'emailTo',
  parseAddress: parseEmailAddress,
  isSigned: false,
  hourlyLimit: {
    max: EMAILS_PER_HOUR_MAX,
    error: `not sent: this alert has reached the limit of ${EMAILS_PER_HOUR_MAX} emails per hour`,
  },
  attemptMsMax: TIMEOUT_MS,
  send: sendEmail,
} as const satisfies AlertChannel;

function parseEmailAddress(text: string, { mailer }: Pick<AlertDeps, 'mailer'>): string {
  const address = normaliseEmail(text);
  if (address === null) throw invalid([{ path: 'email_to', message: 'must be a single email address' }]);
  if (!mailer.isConfigured) {
    throw conflict(
      'mail_not_configured',
      'email_to: this installation cannot send email; ask the operator to set SMTP_URL (docs/running.md), or use url',
    );
  }
  return address;
}

async function sendEmail(
  { mailer, dashboardUrl }: ChannelDeps,
  emailTo: string,
  { description, body }: OutgoingAlert,
): Promise<SendResult> {
  const message = formatAlertEmail({ emailTo, description, dashboardUrl }, JSON.parse(body) as AlertPayload);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const message = `the mail server took longer than ${TIMEOUT_MS} ms to accept the email`;
    timer = setTimeout(() => reject(new MailError(message)), TIMEOUT_MS);
  });
  try {
    await Promise.race([mailer.deliver(message), deadline]);
    return { status: null, error: null, response: null };
  } catch (err) {
    if (err instanceof MailError) return toFailedResult(err.message);
    throw err;
  } finally {
    clearTimeout(timer);
  }
}
