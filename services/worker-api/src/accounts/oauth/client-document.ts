/**
 * Clients that name themselves by the address of a document about them (OAuth Client ID Metadata Document). Only a
 * signed-in person makes this service fetch one, by opening the page that asks for consent.
 */
import { AppError } from '@gantry/errors';
import { checkOutboundUrl, isAllowedByOperator, OutboundError, safeFetch } from '@gantry/safe-fetch';
import { type ClientMetadata, parseClientMetadata } from './oauth-client';

const TIMEOUT_MS = 5_000;
const BYTES_MAX = 32 * 1024;

export interface OutboundOptions {
  /** Private networks that the operator has opened. */
  outboundAllow: string[];
}

/** @throws AppError 400 `unknown_client`, in words that may be shown */
export async function fetchClientDocument(
  { outboundAllow: allow }: OutboundOptions,
  clientId: string,
): Promise<ClientMetadata> {
  try {
    const { host } = parseDocumentUrl(clientId, allow);
    const response = await safeFetch(clientId, {
      headers: { Accept: 'application/json' },
      timeoutMs: TIMEOUT_MS,
      responseBytesMax: BYTES_MAX,
      allow,
    });
    if (response.status !== 200) throw createUnknownClientError(`${host} responded with status ${response.status}`);
    if (response.truncated) throw createUnknownClientError(`the response from ${host} exceeds 32 KB`);
    const document = parseDocument(response.body);
    if (document.client_id !== clientId) throw createUnknownClientError('its client_id does not match its URL');
    const method = document.token_endpoint_auth_method;
    // A client with a key of its own must not be taken for one that needs none.
    if (method !== undefined && method !== 'none')
      throw createUnknownClientError('its token_endpoint_auth_method must be none');
    if (document.client_secret !== undefined) throw createUnknownClientError('it must not contain a client_secret');
    return parseClientMetadata(document);
  } catch (err) {
    if (err instanceof OutboundError) throw createUnknownClientError(err.message);
    if (err instanceof AppError && err.code !== 'unknown_client') throw createUnknownClientError(err.detail);
    throw err;
  }
}

/** @throws AppError 400, OutboundError */
function parseDocumentUrl(clientId: string, allow: string[]): URL {
  const url = checkOutboundUrl(clientId, { allow });
  // Plain http only at a literal address that the operator has opened.
  if (url.protocol !== 'https:' && !isAllowedByOperator(clientId))
    throw createUnknownClientError('its URL must begin with https://');
  if (url.hash || clientId.includes('#')) throw createUnknownClientError('its URL must not have a fragment');
  if (url.pathname === '/') throw createUnknownClientError('its URL must have a path');
  if (url.href !== clientId) throw createUnknownClientError(`its URL must be written as ${url.href}`);
  return url;
}

function parseDocument(body: Buffer): Record<string, unknown> {
  try {
    const document = JSON.parse(body.toString('utf8'));
    if (typeof document === 'object' && document !== null && !Array.isArray(document)) return document;
  } catch {
    // Said below.
  }
  throw createUnknownClientError('it is not a JSON object');
}

const createUnknownClientError = (reason: string): AppError =>
  new AppError('invalid', 'unknown_client', `the client's metadata document cannot be used: ${reason}`);
