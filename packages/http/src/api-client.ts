/** Calls the HTTP API on behalf of a caller, with their credential, workspace and IP address. */
import type { Surface } from '@gantry/openapi';
import type { Call } from './handler';

export type SurfaceUrls = Record<Surface, string>;

export interface ApiResponse {
  status: number;
  headers: Headers;
  /** Parsed if the response is JSON; otherwise text. */
  body: unknown;
}

export interface ApiRequest {
  surface: Surface;
  method: string;
  /** Includes the query string. */
  path: string;
  body?: unknown;
  signal: AbortSignal;
}

export type ApiClient = (request: ApiRequest) => Promise<ApiResponse>;

/** Headers that identify the caller and the address. */
const FORWARDED_HEADERS = [
  'authorization',
  'x-svc-token',
  'x-svc-workspace',
  'x-svc-agent',
  'x-forwarded-for',
  'traceparent',
];
/** More than an agent can read; a client has to request a larger response in parts. */
const RESPONSE_BYTES_MAX = 1_000_000;

export class ResponseTooLargeError extends Error {}

/** Identify a browser session, whose request was proven to come from one of our pages. */
const SESSION_HEADERS = ['cookie', 'origin'];

/**
 * Creates a client that forwards the caller's credential.
 * @param requestHeaders headers of the request that is served
 * @param ofSession whether to forward a session; not for agents, which a page could reach
 */
export function createForwardingClient(
  urls: SurfaceUrls,
  requestHeaders: Headers,
  { ofSession = false } = {},
): ApiClient {
  const forwardedHeaders = Object.fromEntries(
    [...FORWARDED_HEADERS, ...(ofSession ? SESSION_HEADERS : [])].flatMap((name) => {
      const value = requestHeaders.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  return async ({ surface, method, path, body, signal }) => {
    const response = await fetch(urls[surface] + path, {
      method,
      headers: {
        ...forwardedHeaders,
        Accept: 'application/json, text/*;q=0.9, */*;q=0.1',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      redirect: 'manual',
      signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await readBoundedText(response);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
  };
}

/**
 * Creates a client that calls the API as the caller of an operation, by their session too.
 * @param agent whether a model chooses the calls: code that they contain waits for approval
 */
export function createApiClient(
  urls: SurfaceUrls,
  { caller, req }: Pick<Call, 'caller' | 'req'>,
  { agent = caller.isAgent === true } = {},
): ApiClient {
  const headers = new Headers({ 'x-svc-workspace': caller.workspaceId });
  if (agent) headers.set('x-svc-agent', 'chat');
  for (const name of ['authorization', 'x-svc-token', ...SESSION_HEADERS]) {
    const value = req.get(name);
    if (value !== undefined) headers.set(name, value);
  }
  if (req.ip) headers.set('x-forwarded-for', req.ip);
  return createForwardingClient(urls, headers, { ofSession: true });
}

async function readBoundedText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > RESPONSE_BYTES_MAX) {
      await reader?.cancel();
      throw new ResponseTooLargeError(`The response is larger than ${RESPONSE_BYTES_MAX} bytes.`);
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks).toString('utf8');
}
