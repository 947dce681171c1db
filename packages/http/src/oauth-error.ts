/** Formats errors by RFC 6749 (5.2), 7009 and 7591 (3.2.2). */
import type { AppError } from '@gantry/errors';

const CODES: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_grant',
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
  'invalid_redirect_uri',
  'invalid_client_metadata',
]);

/** Characters that `error_description` may not have. */
const DISALLOWED_CHARACTERS = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g;

/** @param error undefined: a bug of ours */
export function toOauthError(
  error: AppError | undefined,
  detail: string,
): { error: string; error_description: string } {
  return {
    error: toOauthErrorCode(error),
    error_description: detail.replaceAll('"', "'").replace(DISALLOWED_CHARACTERS, '?'),
  };
}

function toOauthErrorCode(error: AppError | undefined): string {
  if (!error) return 'server_error';
  if (CODES.has(error.code)) return error.code;
  return error.kind === 'unavailable' || error.kind === 'rate_limited' ? 'temporarily_unavailable' : 'invalid_request';
}
