/** Checks that hold for every answer, whatever was asked. */
import type { FuzzedRequest } from './fuzzed-request';
import type { FuzzedOperation } from './openapi';
import type { FuzzResponse } from './send';

/**
 * 503 is an answer where something that the operation needs is not there: what a person has to configure, or an
 * executor. A database that is too slow or a bug is not among these.
 */
const EXPECTED_UNAVAILABLE = new Set(['no_executor', 'draining']);

export interface ResponseProblem {
  kind: 'status' | 'answer';
  what: string;
}

export function checkResponse(
  operation: FuzzedOperation,
  request: FuzzedRequest,
  response: FuzzResponse,
): ResponseProblem[] {
  const where = `${operation.surface} ${operation.id}`;
  const { status, headers, body, isStream } = response;
  const problems: ResponseProblem[] = [];
  const text = body.toString();
  if (status >= 500 && !(status === 503 && EXPECTED_UNAVAILABLE.has(parseCode(text)))) {
    problems.push({ kind: 'status', what: `${where}: ${status} ${text.slice(0, 200)}` });
  }
  if (!headers['x-request-id']) problems.push({ kind: 'answer', what: `${where}: ${status} without X-Request-Id` });
  if (status >= 400 && /max-age=[1-9]|immutable/.test(headers['cache-control'] ?? '')) {
    problems.push({ kind: 'answer', what: `${where}: ${status} may be cached` });
  }
  if (LEAK_PATTERN.test(text) && status >= 400)
    problems.push({ kind: 'answer', what: `${where}: ${status} tells ${LEAK_PATTERN.exec(text)?.[0]}` });
  if (isStream || request.method === 'HEAD' || request.isElsewhere) return problems;
  if (CONDITIONAL[status]?.some((name) => name in request.headers)) return problems;
  const problem = operation.findProblem({ status, contentType: headers['content-type'], body });
  if (problem) problems.push({ kind: 'answer', what: `${where}: ${problem}` });
  return problems;
}

/** Any address may answer so to a request that asks for it (RFC 9110). */
const CONDITIONAL: Record<number, string[]> = {
  206: ['Range'],
  304: ['If-None-Match', 'If-Modified-Since'],
  412: ['If-Match', 'If-Unmodified-Since', 'If-None-Match'],
  416: ['Range'],
};

/** A stack, a statement or a path of ours. */
const LEAK_PATTERN = /(?:\n|\\n)\s+at \S+ \(|node_modules|\bPrismaClient|\bSELECT .+ FROM\b|<html>\r?\n<head><title>/;

function parseCode(text: string): string {
  try {
    return JSON.parse(text).code;
  } catch {
    return '';
  }
}
