/** A field that the server refused. */
export interface FieldProblem {
  path: string;
  message: string;
}

/** A response that is not a success, or the lack of a response, as one error for all surfaces. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 where the server was not reached. */
    readonly status: number,
    /** Stable name of the problem, such as `not_found`; `unreachable` and `not_json` are the client's own. */
    readonly code: string,
    message: string,
    /** By field, where the response names fields. */
    readonly fields: FieldProblem[],
    readonly requestId: string | null,
    /** Seconds after which the server accepts another attempt, where it says so. */
    readonly retryAfter: number | null = null,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'ApiError';
  }
}

interface ErrorBody {
  error?: string;
  detail?: string;
  code?: string;
  details?: FieldProblem[];
  errors?: FieldProblem[];
}

/** @param error the body, parsed where it is JSON */
export function toApiError(response: Response, error: unknown): ApiError {
  const body: ErrorBody = typeof error === 'object' && error !== null ? error : {};
  return new ApiError(
    response.status,
    body.code ?? 'unknown',
    body.error ?? body.detail ?? `the server responded with status ${response.status}`,
    body.details ?? body.errors ?? [],
    response.headers.get('X-Request-Id'),
    parseRetryAfter(response.headers.get('Retry-After')),
  );
}

/** A response that has another form than the API gives it. */
export const toNotJsonError = (response: Response, message: string): ApiError =>
  new ApiError(response.status, 'not_json', message, [], response.headers.get('X-Request-Id'));

/** Reads the body of a response that nothing has read. */
export async function readApiError(response: Response): Promise<ApiError> {
  const body = await response.json().catch(() => undefined);
  return toApiError(response, body);
}

/** @returns seconds, 0 for a date that has passed, null for anything else */
export function parseRetryAfter(value: string | null): number | null {
  if (!value) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}

/** The data of a response. @throws ApiError for anything but 2xx. */
export async function unwrap<T>(result: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await result.catch((cause: unknown) => {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ApiError(0, 'not_json', 'the server responded with something other than JSON', [], null, null, { cause });
  });
  if (!response.ok) throw toApiError(response, error);
  if (response.status === 200 && data === undefined)
    throw toNotJsonError(response, 'the server sent an empty response');
  return data as T;
}
