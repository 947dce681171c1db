import { OutboundFailed, type OutboundResponse, safeFetch } from '@gantry/safe-fetch';
import { buildSignatureHeaders } from '../../triggers/webhook/webhook-signature';
import { openSigningSecrets } from '../signing-secrets';
import { type AlertChannel, type ChannelDeps, type OutgoingAlert, type SendResult, toFailure } from './channel';

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 4_096;
const RESPONSE_CHARS_MAX = 500;

/** Sent by a receiver that no longer exists: https://github.com/standard-webhooks/standard-webhooks */
export const GONE = 410;

export const webhook: AlertChannel = {
  field: 'url',
  isUsedBy: ({ url }) => url !== null,
  attemptMsMax: TIMEOUT_MS,
  send,
};

async function send({ vault, outboundAllow, now }: ChannelDeps, outgoing: OutgoingAlert): Promise<SendResult> {
  const { id, body, url, alertId, workspaceId, signingKey } = outgoing;
  if (url === null) return toFailure('the alert has no url any more');
  const at = now();
  const holder = { id: alertId, workspaceId, signingKey: signingKey && new Uint8Array(signingKey) };
  const secrets = await openSigningSecrets(vault, holder, at);
  try {
    const response = await safeFetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Gantry-Alerts/1',
        ...buildSignatureHeaders(secrets, { id, at, body }),
      },
      body,
      timeoutMs: TIMEOUT_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
      allow: outboundAllow,
    });
    return { status: response.status, error: findError(response), response: getBodyStart(response) };
  } catch (err) {
    if (err instanceof OutboundFailed) return toFailure(err.message);
    throw err;
  }
}

function findError({ status }: OutboundResponse): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === GONE) return 'answered 410 Gone: the receiver no longer exists';
  if (status >= 300 && status < 400)
    return `answered ${status}: redirects are not followed; set the url to the final address`;
  return `answered ${status}`;
}

const getBodyStart = ({ body }: OutboundResponse): string | null =>
  body.length ? body.toString('utf8').slice(0, RESPONSE_CHARS_MAX) : null;
