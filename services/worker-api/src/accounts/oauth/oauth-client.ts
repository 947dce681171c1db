/** Clients: what is kept of what they say, and where it comes from. */
import { AppError } from '@gantry/errors';
import type { OauthClient } from '../../generated/prisma/client';
import { requireRedirectUri } from './redirect-uri';

export type ClientMetadata = Pick<OauthClient, 'name' | 'uri' | 'redirectUris'>;

const NAME_CHARS_MAX = 100;
const URI_CHARS_MAX = 2_000;
const REDIRECTS_MAX = 20;
export const REGISTERED_CLIENT_ID_PREFIX = 'ocl_';

/**
 * Metadata of a client as it describes itself (RFC 7591, 2); what is not used is left out.
 * @throws AppError 400 `invalid_client_metadata` or `invalid_redirect_uri`
 */
export function parseClientMetadata(metadata: Record<string, unknown>): ClientMetadata {
  const { client_name: name, client_uri: uri, redirect_uris: redirects, response_types, grant_types } = metadata;
  if (!isStringArray(redirects) || redirects.length === 0 || redirects.length > REDIRECTS_MAX) {
    throw createInvalidMetadataError(`redirect_uris: must be 1 to ${REDIRECTS_MAX} addresses`);
  }
  redirects.forEach(requireRedirectUri);
  if (response_types !== undefined && !(isStringArray(response_types) && response_types.includes('code'))) {
    throw createInvalidMetadataError('response_types: only code is supported');
  }
  if (grant_types !== undefined && !(isStringArray(grant_types) && grant_types.includes('authorization_code'))) {
    throw createInvalidMetadataError('grant_types: must include authorization_code');
  }
  return {
    name: typeof name === 'string' ? sanitizeName(name) : null,
    uri: typeof uri === 'string' && isHttpsUri(uri) ? uri : null,
    redirectUris: [...new Set(redirects)],
  };
}

const isStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** The name without characters that could reorder the text around it: controls, line breaks, marks of direction. */
function sanitizeName(name: string): string | null {
  const plain = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return [...plain].slice(0, NAME_CHARS_MAX).join('') || null;
}

const isHttpsUri = (uri: string): boolean =>
  uri.length <= URI_CHARS_MAX && URL.canParse(uri) && new URL(uri).protocol === 'https:';

export const createInvalidMetadataError = (detail: string): AppError =>
  new AppError('invalid', 'invalid_client_metadata', detail);
