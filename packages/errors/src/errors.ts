/**
 * Defines the one error type. `kind` fixes the status, `code` is stable for clients, `detail` is public and names the
 * problem, its place and the remedy; `cause` is only for the log. Anything else that is thrown is a bug: 500.
 */
const STATUS = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  timeout: 408,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  unsupported_type: 415,
  bad_range: 416,
  mismatch: 422,
  precondition: 428,
  rate_limited: 429,
  unavailable: 503,
} as const;

import { isPostgresDown } from '@gantry/postgres';
export type ErrorKind = keyof typeof STATUS;

export interface FieldProblem {
  path: string;
  message: string;
}

export class AppError extends Error {
  readonly status: number;
  readonly fields: FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    readonly detail: string,
    extras: { cause?: unknown; fields?: FieldProblem[]; retryAfterSeconds?: number } = {},
  ) {
    super(detail, { cause: extras.cause });
    this.name = 'AppError';
    this.status = STATUS[kind];
    this.fields = extras.fields;
    this.retryAfterSeconds = extras.retryAfterSeconds;
  }
}

/** Limit of problems in one response. */
export const PROBLEMS_MAX = 20;

/** Creates a 400 with the invalid fields. */
export function invalid(fields: FieldProblem[], code = 'invalid'): AppError {
  const named = fields.slice(0, PROBLEMS_MAX).map(({ path, message }) => `${path}: ${message}`);
  return new AppError('invalid', code, named.join('; ') || 'invalid request', { fields });
}

/**
 * Runs every check even if one fails, so that one response names all problems.
 * @throws AppError 400 with the fields of all of them, and the code of the first
 */
export function runChecks<T extends unknown[]>(...checks: { [K in keyof T]: () => T[K] }): T {
  const failures: AppError[] = [];
  const results = checks.map((check) => {
    try {
      return check();
    } catch (err) {
      if (!(err instanceof AppError) || err.kind !== 'invalid' || !err.fields) throw err;
      return void failures.push(err);
    }
  });
  const [first] = failures;
  if (!first) return results as T;
  throw invalid(
    failures.flatMap(({ fields }) => fields ?? []),
    first.code,
  );
}

/**
 * Also for a resource of another workspace: the two responses must be identical.
 * @param where the scope that was searched
 */
export const notFound = (what: string, id: string, where = 'in this workspace'): AppError =>
  new AppError('not_found', 'not_found', `no ${what} "${id.slice(0, 100)}" ${where}`);

/** Error for a link that was sent by email and whose token is unknown. */
export const unknownLinkError = (what: string): AppError =>
  new AppError('not_found', 'not_found', `no ${what} matches this link; ask for a new link`);

export const conflict = (code: string, detail: string): AppError => new AppError('conflict', code, detail);
export const forbidden = (code: string, detail: string): AppError => new AppError('forbidden', code, detail);
export const gone = (code: string, detail: string): AppError => new AppError('gone', code, detail);

export const unavailable = (what: string, cause?: unknown): AppError =>
  new AppError('unavailable', 'unavailable', `${what} is not available right now; try again shortly`, {
    cause,
    retryAfterSeconds: 2,
  });

/** Codes of the errors that mean that NATS is down. */
const NATS_DOWN = /^(CONNECTION_CLOSED|DISCONNECT|503|TIMEOUT)$/;

/** Returns true if PostgreSQL, NATS or the network to them failed, so that the caller may simply retry. */
export function isDependencyDown(err: unknown): boolean {
  for (let e = err, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    const { code } = e as { code?: unknown };
    if ((typeof code === 'string' && NATS_DOWN.test(code)) || isPostgresDown(e)) return true;
    const adapter = (e as { meta?: { driverAdapterError?: unknown } }).meta?.driverAdapterError;
    if (adapter instanceof Error && adapter !== e && isDependencyDown(adapter)) return true;
  }
  return false;
}
