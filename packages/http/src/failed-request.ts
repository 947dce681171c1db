/** The last middleware: turns whatever was thrown into the surface's error body, and leaks nothing. */
import type { ErrorRequestHandler } from 'express';
import multer from 'multer';
import type { Logger } from 'pino';
import { AppError, type ErrorKind, type FieldProblem, isDependencyDown, unavailable } from './errors';

export type ErrorShape = 'detail' | 'error';

const INTERNAL = { code: 'internal', detail: 'something went wrong on our side; the request id finds it in the log' };

export function failedRequest(shape: ErrorShape, log: Logger): ErrorRequestHandler {
  return (err, req, res, next) => {
    const error = toAppError(err);
    const status = error?.status ?? 500;
    if (status >= 500) log.error({ err, requestId: req.id, operation: req.operation?.id }, 'request failed');
    if (res.headersSent) return next(err);
    if (error?.retryAfterSeconds !== undefined) res.set('Retry-After', String(error.retryAfterSeconds));
    const { code, detail } = error ?? INTERNAL;
    const fields = error?.fields;
    const named = shape === 'detail' ? { detail, code, errors: fields } : { error: detail, code, details: fields };
    res.status(status).json(named);
  };
}

/** Behind failedRequest: where even its answer could not be sent, Express must not show a stack. */
export function lastResort(log: Logger): ErrorRequestHandler {
  return (err, _req, res, next) => {
    log.error({ err }, 'error answer not sent');
    if (res.headersSent) return next(err);
    res.status(500).end();
  };
}

const KIND_BY_STATUS: Record<number, ErrorKind> = {
  400: 'invalid',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  413: 'too_large',
  415: 'unsupported_type',
};

/** What the reader of forms says of one that breaks off or is none; the validator makes a 500 of it. */
const BROKEN_FORM = /^(Malformed part header|Unexpected end of (form|file)|Request (aborted|closed))$/;
const PART_OF_REQUEST = /^\/(body|query|params|headers|cookies)(?=\/|$)\/?/;

interface LibraryError {
  status?: number;
  /** Of what reads bodies: the caller's doing. */
  expose?: boolean;
  type?: string;
  message: string;
  errors?: { path?: string; message: string; errorCode?: string }[];
}

/** What the libraries in front of the handlers throw is the caller's doing; undefined means a bug of ours. */
function toAppError(err: unknown): AppError | undefined {
  if (err instanceof AppError) return err;
  if (isDependencyDown(err)) return unavailable('a service that this needs', err);
  if (err instanceof multer.MulterError) return fromMulter(err);
  const { status, expose, type, message, errors } = err as LibraryError;
  if (type === 'entity.parse.failed')
    return new AppError('invalid', 'malformed_json', `the body is not JSON: ${message}`);
  if (type === 'entity.too.large') return new AppError('too_large', 'too_large', 'the body is larger than 1 MB');
  // Reading stopped in the middle, and nothing but decompressing can fail there.
  if (status === 400 && expose && !type && !errors) {
    return new AppError('invalid', 'malformed_body', 'the body is not compressed as Content-Encoding says');
  }
  if (status === 500 && errors && BROKEN_FORM.test(message)) {
    return new AppError('invalid', 'malformed_form', `the body is no whole multipart/form-data: ${message}`);
  }
  const kind = status ? KIND_BY_STATUS[status] : undefined;
  if (!kind || !(errors || type)) return undefined;
  // Only of an invalid request does the path name a field; else it is the request's own.
  const fields = kind === 'invalid' ? errors?.map(toFieldProblem) : undefined;
  const detail = (fields ?? errors)?.map((one) => `${one.path}: ${one.message}`).join('; ') || message;
  return new AppError(kind, kind, detail.slice(0, 2_000), { ...(fields && { fields }) });
}

/** `/body/inputs/a` is for programs; people read `inputs.a`. A path that names no part of a request is the request's own. */
function toFieldProblem({ path = '', message, errorCode }: NonNullable<LibraryError['errors']>[number]): FieldProblem {
  const part = PART_OF_REQUEST.exec(path);
  const where = (part && (path.slice(part[0].length).replaceAll('/', '.') || part[1])) || 'request';
  return {
    path: where,
    message: errorCode?.startsWith('additionalProperties') ? 'unknown property' : message,
  };
}

function fromMulter(err: multer.MulterError): AppError {
  return err.code === 'LIMIT_FILE_SIZE'
    ? new AppError('too_large', 'too_large', `${err.field ?? 'the file'} is larger than allowed`)
    : new AppError('invalid', 'invalid_upload', `${err.field ?? 'upload'}: ${err.message}`);
}
