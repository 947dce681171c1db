/**
 * Calls tools of the catalogue: requests that it describes, with the connection's token, to the token's allowed hosts.
 */
import type { ToolFailure } from '@gantry/events';
import type { ToolOutcome } from '@gantry/run-engine';
import { matchesHost, OutboundError, safeFetch } from '@gantry/safe-fetch';
import { fillTemplate, toPlainText } from '../connections/request-template';
import type { CatalogTool, Provider, RequestTemplate } from '../integrations/catalog/provider';
import { buildFailure, createToolFailure } from './tool-result';

/** More than a step may store, so that the error can report the size. */
const RESPONSE_BYTES_MAX = 2_000_000;

export interface AppCall {
  provider: Provider;
  tool: CatalogTool;
  parameters: Readonly<Record<string, string>>;
  hosts: readonly string[];
  allow: string[];
  arguments: Record<string, unknown>;
  timeoutMs: number;
}

export interface AppRequest {
  method: RequestTemplate['method'];
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** @returns whether a call can be repeated safely: it reads, or writes the same state again */
export const isIdempotent = (tool: CatalogTool): boolean =>
  isReadOnly(tool) || tool.request.method === 'PUT' || tool.request.method === 'DELETE';

export const isReadOnly = ({ request }: CatalogTool): boolean => request.reads === true || request.method === 'GET';

/** @returns whether a call only reads or creates, and neither overwrites nor deletes */
export const isNonDestructive = (tool: CatalogTool): boolean => isReadOnly(tool) || tool.request.method === 'POST';

/** @returns `failed` for an argument that cannot be part of a URL, and for a host that may not get the token */
export function buildAppRequest({
  provider,
  tool,
  parameters,
  hosts,
  arguments: callArguments,
}: AppCall): AppRequest | { failed: ToolFailure } {
  const { method, query = [], json, jsonUnder, fixed, headers } = tool.request;
  const template = fillTemplate(tool.request.url, parameters);
  const inPath: Record<string, string> = {};
  for (const [, name = ''] of template.matchAll(/\{(\w+)\}/g)) {
    const value = Object.hasOwn(callArguments, name) ? String(callArguments[name]) : '';
    // URL parsers resolve dot segments, encoded or not.
    if (value === '' || value === '.' || value === '..') {
      return buildFailure('invalid_arguments', `${name} must not be empty, "." or ".."`);
    }
    inPath[name] = encodeURIComponent(value.replaceAll(/\p{Cs}/gu, '\ufffd'));
  }
  const url = new URL(fillTemplate(template, inPath));
  const usual = url.protocol === 'http:' ? 80 : 443;
  const isAllowed = hosts.some((host) => matchesHost(host, url.hostname, Number(url.port) || usual, usual));
  if (!isAllowed) return buildFailure('not_allowed', `the connection cannot be used with ${url.host}`);
  for (const name of query) {
    for (const one of [callArguments[name] ?? []].flat())
      url.searchParams.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one));
  }
  const members = Object.fromEntries(
    (json ?? []).flatMap((name) => (Object.hasOwn(callArguments, name) ? [[name, callArguments[name]]] : [])),
  );
  const body = json || fixed ? { ...fixed, ...(jsonUnder ? { [jsonUnder]: members } : members) } : undefined;
  return {
    method,
    url: url.href,
    headers: {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      ...provider.headers,
      ...headers,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  };
}

export type AppResponse = { status: number; outcome: ToolOutcome };

/** @param token put into the header that the provider wants; never part of what is returned */
export async function sendAppRequest(call: AppCall, request: AppRequest, token: string): Promise<AppResponse> {
  const { provider, tool, allow, timeoutMs } = call;
  const { url, ...sent } = request;
  const { host } = new URL(url);
  const isFinal = !isIdempotent(tool);
  try {
    const headers = { ...sent.headers, [provider.send.header]: `${provider.send.prefix}${token}` };
    const answer = await safeFetch(url, { ...sent, headers, timeoutMs, responseBytesMax: RESPONSE_BYTES_MAX, allow });
    const { status } = answer;
    if (answer.truncated) {
      const message = `${host} responded with more than ${RESPONSE_BYTES_MAX} bytes; request less data`;
      return { status, outcome: { failed: createToolFailure('too_large', message), isFinal } };
    }
    return { status, outcome: toToolOutcome(host, status, answer.body.toString(), isFinal) };
  } catch (err) {
    if (!(err instanceof OutboundError)) throw err;
    // Nothing was sent to a refused address; for a broken connection that is unknown.
    const code = isFinal ? 'outcome_unknown' : 'unavailable';
    return { status: 0, outcome: { failed: createToolFailure(code, err.message), isFinal } };
  }
}

function toToolOutcome(host: string, status: number, text: string, isFinal: boolean): ToolOutcome {
  const shownBody = toPlainText(text);
  const toFailedOutcome = (code: ToolFailure['code'], message: string): ToolOutcome => ({
    failed: { code, message: `${host} ${message}: ${shownBody}` },
    isFinal: code === 'outcome_unknown',
  });
  if (status === 500 || status === 502 || status === 504) {
    return toFailedOutcome(isFinal ? 'outcome_unknown' : 'tool_error', `responded with status ${status}`);
  }
  if (status >= 300) return toFailedOutcome('tool_error', `responded with status ${status}`);
  const result = parseBody(text);
  // Some providers refuse with status 200 and an error in the body.
  const { ok, errors, data } = (typeof result === 'object' && result !== null ? result : {}) as Record<string, unknown>;
  const isRefusal =
    ok === false || (Array.isArray(errors) && errors.length > 0 && (data === null || data === undefined));
  return isRefusal ? toFailedOutcome('tool_error', 'refused') : { result };
}

function parseBody(text: string): unknown {
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
