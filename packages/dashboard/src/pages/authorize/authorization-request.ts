import type { WorkerSchemas } from '@gantry/sdk';

const PARAMETER_NAMES = [
  'response_type',
  'client_id',
  'redirect_uri',
  'state',
  'code_challenge',
  'code_challenge_method',
  'scope',
  'resource',
] as const;

export type AuthorizationRequest = WorkerSchemas['AuthorizationRequest'];

/** Returns null for an invalid request: a parameter is missing or repeated (RFC 6749, 3.1). */
export function parseAuthorizationRequest(search: URLSearchParams): AuthorizationRequest | null {
  if (PARAMETER_NAMES.some((name) => search.getAll(name).length > 1)) return null;
  const parameters = Object.fromEntries(
    PARAMETER_NAMES.flatMap((name) => (search.get(name) ? [[name, search.get(name)]] : [])),
  );
  const { client_id, redirect_uri } = parameters;
  return client_id && redirect_uri ? { ...parameters, client_id, redirect_uri } : null;
}
