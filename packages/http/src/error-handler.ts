/** The last middleware: maps every thrown error to the surface's error body, and leaks nothing. */

import {
  AppError,
  type ErrorKind,
  type FieldProblem,
  isDependencyDown,
  PROBLEMS_MAX,
  unavailable,
} from '@gantry/errors';
import { toTraceFields } from '@gantry/tracing';
import type { ErrorRequestHandler, Request } from 'express';
import multer from 'multer';
import type { Logger } from 'pino';
import { toOauthError } from './oauth-error';
import { discardBody } from './unread-body';
import './request';

export type ErrorShape = 'detail' | 'error';

const INTERNAL = { code: 'internal', detail: 'something went wrong on our side; search the log for the request id' };
/** These texts may quote the request. */
const DETAIL_CHARS_MAX = 2_000;
const FIELD_CHARS_MAX = 500;
const UNPAIRED_SURROGATES = /\p{Surrogate}/gu;
const REPLACEMENT = '\u{fffd}';

/** Headers that were set before the request failed, and do not apply to an error. */
const CONTENT_HEADERS = ['Content-Type', 'Content-Disposition', 'Content-Encoding', 'Content-Length', 'Accept-Ranges'];

/** @param challenge the value of `WWW-Authenticate` in a 401; default: `Bearer` */
export function createErrorHandler(
  shape: ErrorShape,
  log: Logger,
  challenge: (req: Request, code: string) => string = () => 'Bearer',
): ErrorRequestHandler {
  return (err, req, res, next) => {
    const error = toAppError(err);
    const status = error?.status ?? 500;
    if (status >= 500) {
      const trace = toTraceFields(req.get('traceparent'));
      log.error({ err, requestId: req.id, operation: req.operation?.id, ...trace }, 'request failed');
    }
    if (res.headersSent) return next(err);
    discardBody(req, res);
    if (error?.retryAfterSeconds !== undefined) res.set('Retry-After', String(error.retryAfterSeconds));
    for (const name of CONTENT_HEADERS) res.removeHeader(name);
    const { code } = error ?? INTERNAL;
    if (status === 401) res.set('WWW-Authenticate', challenge(req, code));
    const detail = sanitizeText((error ?? INTERNAL).detail, DETAIL_CHARS_MAX);
    const fields = error?.fields?.slice(0, PROBLEMS_MAX).map(sanitizeField);
    const problemFields =
      shape === 'detail' ? { detail, code, errors: fields } : { error: detail, code, details: fields };
    const oauth = req.operation?.hasOauthErrors ? toOauthError(error, detail) : {};
    res.status(status).json({ ...problemFields, ...oauth });
  };
}

/** Handles errors of the error handler itself, so that Express never shows a stack. */
export function createFallbackErrorHandler(log: Logger): ErrorRequestHandler {
  return (err, _req, res, next) => {
    log.error({ err }, 'failed to send the error response');
    if (res.headersSent) return next(err);
    res.status(500).end();
  };
}

/**
 * Replaces characters that PostgreSQL cannot store or terminals should not print: responses that quote requests are
 * stored.
 */
function sanitizeText(text: string, charsMax: number): string {
  const shown = text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
  return shown.replace(UNPAIRED_SURROGATES, REPLACEMENT).replaceAll('\0', REPLACEMENT);
}

const sanitizeField = ({ path, message }: FieldProblem): FieldProblem => ({
  path: sanitizeText(path, FIELD_CHARS_MAX),
  message: sanitizeText(message, FIELD_CHARS_MAX),
});

const KIND_BY_STATUS: Record<number, ErrorKind> = {
  400: 'invalid',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  412: 'precondition_failed',
  413: 'too_large',
  415: 'unsupported_type',
  416: 'bad_range',
};

const DETAIL_BY_KIND: Partial<Record<ErrorKind, string>> = {
  not_found: 'there is no file at this address',
  precondition_failed: 'the file does not match If-Match or If-Unmodified-Since',
  bad_range: 'the requested range is outside the file; Content-Range gives the file’s length',
};

/** Maps errors of the libraries before the handlers, which the client caused; undefined means a bug of ours. */
function toAppError(err: unknown): AppError | undefined {
  if (err instanceof AppError) return err;
  if (isDependencyDown(err)) return unavailable('a service that this request depends on', err);
  if (err instanceof multer.MulterError) return multerToAppError(err);
  // Errors of the library that sends files. It hides messages that may contain a server path, such as a 404's.
  const { status, expose, message } = err as { status?: number; expose?: boolean; message: string };
  const kind = expose !== undefined && status ? KIND_BY_STATUS[status] : undefined;
  const detail = kind && (DETAIL_BY_KIND[kind] ?? (expose ? message.toLowerCase() : undefined));
  return detail ? new AppError(kind, kind, detail) : undefined;
}

function multerToAppError(err: multer.MulterError): AppError {
  const { code, field, message } = err;
  if (code === 'LIMIT_FILE_SIZE') return new AppError('too_large', 'too_large', `${field ?? 'the file'}: ${message}`);
  if (code === 'LIMIT_FILE_COUNT' || code === 'LIMIT_PART_COUNT')
    return new AppError('too_large', 'too_large', message);
  return new AppError('invalid', 'invalid_upload', `${field ?? 'upload'}: ${message}`);
}
