/** One attempt at reaching a receiver. Never throws for what the receiver or the way to it did. */
import { OutboundFailed, type OutboundResponse, safeFetch } from '@gantry/safe-fetch';
import { withReviewLink } from '../approvals/link-in-alert';
import type { Deps } from '../deps';
import { MailFailed } from '../mail/mailer';
import { signedHeaders } from '../webhook-signature';
import type { Channel } from './alert';
import { alertEmail } from './alert-email';
import type { AlertPayload } from './alert-payload';
import type { Sent } from './delivery';
import { openSigningSecrets } from './signing-secrets';

export type SendDeps = Pick<Deps, 'prisma' | 'hasher' | 'vault' | 'mailer' | 'outboundAllow' | 'dashboardUrl' | 'now'>;

export interface Outgoing {
  /** The same at each attempt, so that a receiver knows a message it has had. */
  id: string;
  channel: Channel;
  /** JSON of an AlertPayload. */
  body: string;
  alertId: string;
  workspaceId: string;
  url: string | null;
  emailTo: string | null;
  description: string;
  signingKey: Uint8Array | null;
}

const WEBHOOK_TIMEOUT_MS = 10_000;
/** Of all steps of SMTP together; a server may answer each of them slowly. */
const EMAIL_TIMEOUT_MS = 20_000;
/** No attempt takes longer. */
export const ATTEMPT_MS_MAX = EMAIL_TIMEOUT_MS;

const RESPONSE_BYTES_MAX = 4_096;
const RESPONSE_CHARS_MAX = 500;

/** The receiver says that it is no longer there: https://github.com/standard-webhooks/standard-webhooks */
export const GONE = 410;

export async function sendDelivery(deps: SendDeps, outgoing: Outgoing): Promise<Sent> {
  const startedAt = performance.now();
  // Whoever reads the log of deliveries may not decide: the link is in what is sent, and not in what is kept.
  const whole = { ...outgoing, body: await withReviewLink(deps, outgoing.body) };
  const sent = whole.channel === 'webhook' ? await sendWebhook(deps, whole) : await sendEmail(deps, whole);
  return { ...sent, duration_ms: Math.round(performance.now() - startedAt) };
}

type Result = Omit<Sent, 'duration_ms'>;

const failed = (error: string): Result => ({ status: null, error, response: null });

async function sendWebhook({ vault, outboundAllow, now }: SendDeps, outgoing: Outgoing): Promise<Result> {
  const { id, body, url, alertId, workspaceId, signingKey } = outgoing;
  if (url === null) return failed('the alert has no url any more');
  const at = now();
  const holder = { id: alertId, workspaceId, signingKey: signingKey && new Uint8Array(signingKey) };
  const secrets = await openSigningSecrets(vault, holder, at);
  try {
    const response = await safeFetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Gantry-Alerts/1',
        ...signedHeaders(secrets, { id, at, body }),
      },
      body,
      timeoutMs: WEBHOOK_TIMEOUT_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
      allow: outboundAllow,
    });
    return { status: response.status, error: errorOf(response), response: beginningOf(response) };
  } catch (err) {
    if (err instanceof OutboundFailed) return failed(err.message);
    throw err;
  }
}

function errorOf({ status }: OutboundResponse): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === GONE) return 'answered 410 Gone: the receiver wants no more of these';
  if (status >= 300 && status < 400)
    return `answered ${status}: redirects are not followed; set the url to where it leads`;
  return `answered ${status}`;
}

const beginningOf = ({ body }: OutboundResponse): string | null =>
  body.length ? body.toString('utf8').slice(0, RESPONSE_CHARS_MAX) : null;

async function sendEmail({ mailer, dashboardUrl }: SendDeps, outgoing: Outgoing): Promise<Result> {
  const { emailTo, description, body } = outgoing;
  if (emailTo === null) return failed('the alert has no email_to any more');
  const message = alertEmail({ emailTo, description, dashboardUrl }, JSON.parse(body) as AlertPayload);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const message = `the mail server took longer than ${EMAIL_TIMEOUT_MS} ms`;
    timer = setTimeout(() => reject(new MailFailed(message)), EMAIL_TIMEOUT_MS);
  });
  try {
    await Promise.race([mailer.deliver(message), deadline]);
    return { status: null, error: null, response: null };
  } catch (err) {
    if (err instanceof MailFailed) return failed(err.message);
    throw err;
  } finally {
    clearTimeout(timer);
  }
}
