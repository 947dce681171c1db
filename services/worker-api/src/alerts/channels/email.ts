import { MailFailed } from '../../mail/mailer';
import type { AlertPayload } from '../alert-payload';
import { type AlertChannel, type ChannelDeps, type OutgoingAlert, type SendResult, toFailure } from './channel';
import { formatAlertEmail } from './email-message';

/** For all steps of SMTP together; a server may answer each of them slowly. */
const TIMEOUT_MS = 20_000;

export const email: AlertChannel = {
  field: 'email_to',
  isUsedBy: ({ emailTo }) => emailTo !== null,
  attemptMsMax: TIMEOUT_MS,
  send,
};

async function send({ mailer, dashboardUrl }: ChannelDeps, outgoing: OutgoingAlert): Promise<SendResult> {
  const { emailTo, description, body } = outgoing;
  if (emailTo === null) return toFailure('the alert has no email_to any more');
  const message = formatAlertEmail({ emailTo, description, dashboardUrl }, JSON.parse(body) as AlertPayload);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const message = `the mail server took longer than ${TIMEOUT_MS} ms`;
    timer = setTimeout(() => reject(new MailFailed(message)), TIMEOUT_MS);
  });
  try {
    await Promise.race([mailer.deliver(message), deadline]);
    return { status: null, error: null, response: null };
  } catch (err) {
    if (err instanceof MailFailed) return toFailure(err.message);
    throw err;
  } finally {
    clearTimeout(timer);
  }
}
