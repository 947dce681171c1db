import { OutboundError, type OutboundResponse, safeFetch } from '@gantry/safe-fetch';
import { parseOutboundUrl } from '../../connections/hosts';
import { buildSignatureHeaders } from '../../triggers/webhook/webhook-signature';
import { openSigningSecrets } from '../signing-secrets';
import { type AlertChannel, type ChannelDeps, type OutgoingAlert, type SendResult, toFailedResult } from './channel';

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 4_096;
const RESPONSE_CHARS_MAX = 500;

/** Sent by a receiver that no longer exists: https://github.com/standard-webhooks/standard-webhooks */
const HTTP_GONE = 410;

export const webhook = {
  field: 'url',
  column: 'url',
  parseAddress: (url, { outboundAllow }) => parseOutboundUrl(url, outboundAllow),
  // Path and query are often the receiver's only secret.
  maskAddress: (url) => `${new URL(url).origin}/…`,
  isSigned: true,
  gone: { status: HTTP_GONE, reason: 'its receiver returned 410 Gone' },
  attemptMsMax: TIMEOUT_MS,
  send: sendWebhook,
} as const satisfies AlertChannel;

async function sendWebhook(
  { vault, outboundAllow, now }: ChannelDeps,
  url: string,
  { id, body, alertId, workspaceId, signingKey }: OutgoingAlert,
): Promise<SendResult> {
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
    return { status: response.status, error: findStatusError(response), response: findBodyExcerpt(response) };
  } catch (err) {
    if (err instanceof OutboundError) return toFailedResult(err.message);
    throw err;
  }
}

function findStatusError({ status }: OutboundResponse): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === HTTP_GONE) return 'returned 410 Gone: the receiver no longer exists';
  if (status >= 300 && status < 400)
    return `returned ${status}: redirects are not followed; set url to the final address`;
  return `answered ${status}`;
}

const findBodyExcerpt = ({ body }: OutboundResponse): string | null =>
  body.length ? body.toString('utf8').slice(0, RESPONSE_CHARS_MAX) : null;
