/** Explains to the caller why a call of a model failed. */
import { AppError } from '@gantry/errors';
import { maskPrefix } from '../connections/mask-request';
import type { OfferedModel } from './model-registry';
import type { ModelProvider } from './model-settings';

export class ModelCallError extends Error {
  constructor(
    readonly code: string,
    readonly detail: string,
    /** Asking once more, or another model, may help. */
    readonly isTransient: boolean,
    readonly retryAfterMs?: number,
    cause?: unknown,
  ) {
    super(detail, { cause });
    this.name = 'ModelCallError';
  }
}

const PROVIDER_MESSAGE_CHARS_MAX = 300;

/** As the AI SDK throws it for an answer of a provider. */
interface ProviderErrorResponse {
  statusCode?: number;
  responseHeaders?: Record<string, string>;
  message?: string;
}

/**
 * Errors of the AI SDK for data that violates the protocol, and of JavaScript for values nested too deep: a retry would
 * fail alike.
 */
const UNREADABLE = /^(AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)Error|RangeError)$/;
/** The AI SDK's error for an image or a file that the provider's protocol does not support. */
const UNSUPPORTED = /^AI_(UnsupportedFunctionality|InvalidArgument|InvalidDataContent|InvalidMessageRole)Error$/;
const CAUSES_MAX = 5;

interface Cause {
  name?: unknown;
  code?: unknown;
  cause?: unknown;
}

/** The error and what it was made of. */
function listCauses(err: unknown, left = CAUSES_MAX): Cause[] {
  if (left === 0 || typeof err !== 'object' || err === null) return [];
  const { cause } = err as Cause;
  return [err, ...listCauses(cause, left - 1)];
}

/** The SDK wraps what it could not read, and a body that broke off alike: the causes tell them apart. */
const isUnreadableResponse = (err: unknown): boolean =>
  listCauses(err).some(({ name }) => UNREADABLE.test(String(name)));

/** Messages of the network name the operator's address, which no other person should see. */
function findNetworkErrorCode(err: unknown): string {
  const code = listCauses(err).find((one) => /^[A-Z_]{2,40}$/.test(String(one.code)))?.code;
  return code === undefined ? '' : ` (${code})`;
}

/** @param timedOut seconds without a word, after which the call was ended */
export function toModelFailure(
  err: unknown,
  { id, provider, providedBy }: OfferedModel,
  timedOut: number | null,
): ModelCallError {
  const known = listCauses(err).find((one) => one instanceof ModelCallError);
  if (known) return known;
  const createFailure = (code: string, detail: string, isTransient: boolean, retryAfterMs?: number) =>
    new ModelCallError(code, `${id}: ${detail}`, isTransient, retryAfterMs, err);
  if (timedOut !== null) return createFailure('model_timed_out', `sent no data for ${timedOut} seconds`, true);
  // In the middle of a stream an error is whatever the provider wrote there.
  const answer = (typeof err === 'string' ? { message: err } : (err ?? {})) as ProviderErrorResponse;
  const { statusCode: status, responseHeaders = {}, message = '' } = answer;
  // A refusal may repeat the key.
  const said = maskPrefix(String(message), listApiKeys(provider), PROVIDER_MESSAGE_CHARS_MAX);
  if (isUnreadableResponse(answer))
    return createFailure('model_malformed', `the response could not be read: ${said}`, false);
  if (UNSUPPORTED.test(String((answer as Cause).name))) {
    return createFailure('model_refused', `the model does not support this request: ${said}`, false);
  }
  const retryAfterMs = parseRetryAfter(responseHeaders['retry-after']);
  switch (status) {
    case undefined:
      return createFailure(
        'model_unavailable',
        `could not be reached, or was interrupted${err instanceof Error ? findNetworkErrorCode(err) : `: ${said}`}`,
        true,
      );
    case 401:
    case 403:
      return createFailure(
        'model_unauthorized',
        `the provider rejected the key ${providedBy === 'operator' ? 'that the operator configured' : 'from its connection'} (${status})`,
        false,
      );
    case 404:
      return createFailure('model_not_found', `the provider has no such model or address (404): ${said}`, false);
    case 408:
      return createFailure('model_timed_out', 'the provider timed out (408)', true, retryAfterMs);
    case 429:
      return createFailure(
        'model_rate_limited',
        `the provider is not accepting any more requests for now (429): ${said}`,
        true,
        retryAfterMs,
      );
    default:
      if (status >= 500)
        return createFailure('model_unavailable', `the provider failed (${status}): ${said}`, true, retryAfterMs);
      if (status >= 200 && status < 300)
        return createFailure('model_unavailable', `the response was interrupted: ${said}`, true);
      return createFailure('model_refused', `the provider rejected the request (${status}): ${said}`, false);
  }
}

const listApiKeys = (provider: ModelProvider): string[] =>
  [
    provider.api_key,
    ...(provider.kind === 'bedrock' ? [provider.secret_access_key, provider.session_token] : []),
  ].filter((key) => key !== undefined);

/** Seconds or a date. */
function parseRetryAfter(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const ms = /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** A call that the caller or the platform ended: a budget, a stop. */
export const isOwnAbort = (err: unknown): boolean =>
  err instanceof AppError || ['AbortError', 'TimeoutError'].includes((err as Error | undefined)?.name ?? '');
