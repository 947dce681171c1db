/**
 * Every request to a provider: by packages/safe-fetch, bounded in time and size, never redirected.
 *
 * Token endpoints differ in small ways that the standard does not have; what they answer is put into its form here, so
 * that the catalogue stays data.
 */
import { parseJson } from '@gantry/http';
import {
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  safeFetch,
  toPlainHeaders,
} from '@gantry/safe-fetch';
import type { CustomFetch } from 'openid-client';
import { createRequestMasker } from './mask-request';
import { toPlainText } from './request-template';

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 256 * 1024;
const MESSAGE_CHARS_MAX = 300;
/** A longer one counts as none: those that were asked for are granted then. */
const SCOPE_CHARS_MAX = 4_000;

/**
 * A provider refused, or gave no usable answer. `message` may be shown and is plain text; words of the provider are in
 * it. `isFinal`: asking again will not help.
 */
export class ProviderError extends Error {
  constructor(
    message: string,
    readonly isFinal: boolean,
    cause?: unknown,
  ) {
    super(message.slice(0, 500), { cause });
    this.name = 'ProviderError';
  }
}

export interface OutboundOptions {
  allow: string[];
}

type ProviderRequest = Pick<OutboundRequest, 'method' | 'headers' | 'body'>;

/** @throws ProviderError where there is no answer, or one that says to come back later */
export async function requestProvider(
  { allow }: OutboundOptions,
  url: string,
  request: ProviderRequest,
): Promise<OutboundResponse> {
  const label = new URL(url).host;
  try {
    const response = await safeFetch(url, {
      timeoutMs: TIMEOUT_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
      allow,
      ...request,
    });
    if (response.truncated) throw new ProviderError(`${label} responded with more than 256 KB`, false);
    if (response.status >= 500 || response.status === 429) {
      throw new ProviderError(`${label} responded with status ${response.status}`, false);
    }
    return response;
  } catch (err) {
    if (err instanceof OutboundError) throw new ProviderError(err.message, false, err);
    throw err;
  }
}

/** The answer as JSON; undefined where it is none. */
export const parseBody = ({ body }: Pick<OutboundResponse, 'body'>): unknown => parseJson(body.toString());

/** For openid-client. @param options.keepsIdToken false: none is checked, so none is kept */
export const createProviderFetch =
  (outbound: OutboundOptions, { keepsIdToken }: { keepsIdToken: boolean }): CustomFetch =>
  async (url, { method, headers, body }) => {
    const sent = {
      method: method as NonNullable<OutboundRequest['method']>,
      headers: toPlainHeaders(headers as RequestInit['headers']),
      ...(body !== undefined && body !== null && { body: String(body) }),
    };
    const response = await requestProvider(outbound, url, sent);
    // Documents, which are read with GET, are taken as they are.
    const conformed =
      method === 'POST'
        ? normalizeTokenResponse(response.status, parseBody(response), {
            keepsIdToken,
            masked: createRequestMasker(sent),
          })
        : null;
    if (conformed) return Response.json(conformed.body, { status: conformed.status });
    const hasBody = response.status !== 204 && response.status !== 205 && response.status !== 304;
    const type = response.headers['content-type'] ?? 'text/plain';
    return new Response(hasBody ? new Uint8Array(response.body) : null, {
      status: Math.max(200, response.status),
      headers: { 'Content-Type': type },
    });
  };

/** The answer of a token endpoint as RFC 6749 has it; null if it is not a JSON object. */
function normalizeTokenResponse(
  status: number,
  json: unknown,
  { keepsIdToken, masked }: { keepsIdToken: boolean; masked: (text: string) => string },
): { status: number; body: object } | null {
  if (json === null || typeof json !== 'object' || Array.isArray(json)) return null;
  const { error, error_description: description, message, ...rest } = json as Record<string, unknown>;
  if (status >= 400 || error) {
    const code = typeof error === 'string' ? masked(toPlainText(error)).slice(0, 100) : 'refused';
    const words = [description, message].find((one) => typeof one === 'string' && one);
    const body = {
      error: code || 'refused',
      ...(words !== undefined && { error_description: masked(toPlainText(String(words))) }),
    };
    return { status: Math.max(status, 400), body };
  }
  const seconds = Number(rest.expires_in);
  const { expires_in: _, refresh_token: refreshToken, scope, id_token: idToken, ...others } = rest;
  return {
    status,
    body: {
      ...others,
      // Providers say `bot` or nothing, and mean this.
      token_type: 'bearer',
      ...(rest.expires_in !== null && Number.isFinite(seconds) && seconds > 0 && { expires_in: Math.floor(seconds) }),
      ...(typeof refreshToken === 'string' && refreshToken && { refresh_token: refreshToken }),
      ...(typeof scope === 'string' && scope.length <= SCOPE_CHARS_MAX && { scope: masked(scope) }),
      ...(keepsIdToken && typeof idToken === 'string' && { id_token: idToken }),
    },
  };
}

/** The failure in whatever was thrown on the way to a provider. */
export function toProviderError(err: unknown): ProviderError {
  for (let e = err, depth = 0; e instanceof Error && depth < 6; e = e.cause, depth++) {
    if (e instanceof ProviderError) return e;
    const { error, error_description: description } = e as { error?: unknown; error_description?: unknown };
    if (typeof error === 'string') {
      const words = [error, description]
        .filter((one) => typeof one === 'string' && one)
        .map((one) => toPlainText(String(one)));
      return new ProviderError(
        `the provider returned an error: ${words.join(': ').slice(0, MESSAGE_CHARS_MAX)}`,
        FINAL_ERROR_CODES.has(error),
        err,
      );
    }
  }
  const { code } = err as { code?: unknown };
  const reason = typeof code === 'string' ? ` (${code})` : '';
  return new ProviderError(`the provider did not return a usable response${reason}`, false, err);
}

/** Refusals that only a person mends: by consenting again, or by mending the OAuth client. */
const FINAL_ERROR_CODES = new Set([
  ...['invalid_grant', 'invalid_refresh_token', 'bad_refresh_token', 'token_revoked', 'access_denied'],
  ...['invalid_client', 'unauthorized_client', 'incorrect_client_credentials', 'bad_client_secret', 'invalid_scope'],
]);
