import { invalid } from '@gantry/errors';
import { checkOutboundUrl, OutboundError, type OutboundResponse, safeFetch } from '@gantry/safe-fetch';
import { buildSignatureHeaders } from '../../triggers/webhook/webhook-signature';
import type { AlertDeps } from '../alert-deps';
import { openSigningSecrets } from '../signing-secrets';
import { type AlertChannel, type ChannelDeps, type OutgoingAlert, type SendResult, toFailure } from './channel';

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 4_096;
const RESPONSE_CHARS_MAX = 500;

/** Sent by a receiver that no longer exists: https://github.com/standard-webhooks/standard-webhooks */
const GONE = 410;

export const webhook = {
  field: 'url',
  column: 'url',
  parseAddress,
  // Path and query are often the receiver's only secret.
  maskAddress: (url) => `${new URL(url).origin}/…`,
  isSigned: true,
  gone: { status: GONE, reason: 'its receiver answered 410 Gone' },
  attemptMsMax: TIMEOUT_MS,
  send,
} as const satisfies AlertChannel;

function parseAddress(url: string, { outboundAllow }: Pick<AlertDeps, 'outboundAllow'>): string {
  try {
    return checkOutboundUrl(url, { allow: outboundAllow }).href;
  } catch (err) {
    if (err instanceof OutboundError) throw invalid([{ path: 'url', message: err.message }], err.code);
    throw err;
  }
}

async function send(
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
    return { status: response.status, error: findError(response), response: getBodyStart(response) };
  } catch (err) {
    if (err instanceof OutboundError) return toFailure(err.message);
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
