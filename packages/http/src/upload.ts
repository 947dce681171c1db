/** Reads bodies into memory, up to a limit that is enforced while they arrive. */

import { AppError } from '@gantry/errors';
import type { Request, RequestHandler } from 'express';
import multer from 'multer';
import { enforceMinBodyRate } from './min-body-rate';

const tooLargeError = (bytesMax: number) =>
  new AppError('too_large', 'too_large', `the body is larger than ${bytesMax / 1024 / 1024} MB`);

/**
 * Reads the bytes of an unread body.
 * @throws AppError 413 as soon as there are more than `bytesMax`; 415 for a compressed body
 */
export async function readBody(req: Request, bytesMax: number): Promise<Buffer> {
  const { 'content-encoding': encoding = 'identity' } = req.headers;
  if (encoding !== 'identity') {
    throw new AppError(
      'unsupported_type',
      'unsupported_encoding',
      'send the bytes as they are, without Content-Encoding',
    );
  }
  return readBodyBytes(req, bytesMax);
}

/** Reads the bytes of a body. @throws AppError 400 if it is aborted, 408 too slow, 413 */
export async function readBodyBytes(req: Request, bytesMax: number): Promise<Buffer> {
  if (Number(req.headers['content-length']) > bytesMax) throw tooLargeError(bytesMax);
  return enforceMinBodyRate(req, collectBytes(req, bytesMax));
}

function collectBytes(req: Request, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (error: Error | null) => {
      req.off('data', onData).off('end', onEnd).off('error', onAbort).off('close', onAbort);
      if (error) reject(error);
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) {
        req.pause();
        settle(tooLargeError(bytesMax));
      } else chunks.push(chunk);
    };
    const onEnd = () => settle(null);
    const onAbort = () => settle(new AppError('invalid', 'broken_off', 'the body was cut off'));
    req.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
  });
}

/** Fields of a form are short: names, or descriptions of its files. */
const FORM_LIMITS = {
  fields: 50,
  fieldSize: 64 * 1024,
  fieldNameSize: 200,
  fieldNestingDepth: 0,
  files: 2_000,
  parts: 2_050,
  headerPairs: 20,
};
/** Limit of a form, with everything around its files. */
const FORM_BYTES_MAX = 16 * 1024 * 1024;

export type ReadForm = (req: Request) => Promise<void>;

/**
 * Reads a form: its files become `req.files`, its fields `req.body`, where a file is an empty text under its field's
 * name.
 * @throws AppError 400, 408; MulterError
 */
export function createFormReader(options: multer.Options): ReadForm {
  const parse = multer({ ...options, limits: { ...FORM_LIMITS, ...options.limits } }).any();
  return async (req) => {
    if (Number(req.headers['content-length']) > FORM_BYTES_MAX) throw tooLargeError(FORM_BYTES_MAX);
    await enforceMinBodyRate(req, parseForm(parse, req));
    req.body = { ...req.body };
    for (const { fieldname } of (req.files ?? []) as Express.Multer.File[]) {
      const before: unknown = req.body[fieldname];
      req.body[fieldname] = before === undefined ? '' : [before, ''].flat();
    }
  };
}

function parseForm(parse: RequestHandler, req: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    // Multer rejects a form only after reading it to its end, which may never come.
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > FORM_BYTES_MAX) reject(tooLargeError(FORM_BYTES_MAX));
    });
    // Multer only reads the request and needs no response.
    parse(req, {} as never, (err?: unknown) => {
      if (!err) resolve();
      else if (err instanceof multer.MulterError) reject(err);
      else {
        const detail = `the body is not valid multipart/form-data: ${(err as Error).message}`;
        reject(new AppError('invalid', 'malformed_form', detail, { cause: err }));
      }
    });
  });
}

/** Creates a storage for `uploads.storage` that limits all files of one form together to `bytesMax`. */
export function createMemoryStorage(bytesMax: number): multer.StorageEngine {
  const usedBytes = new WeakMap<Request, number>();
  return {
    _handleFile: (req, file, done) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let refused = false;
      file.stream.on('data', (chunk: Buffer) => {
        if (refused) return;
        const total = (usedBytes.get(req) ?? 0) + chunk.length;
        usedBytes.set(req, total);
        if (total > bytesMax) {
          refused = true;
          chunks.length = 0;
          const error = new multer.MulterError('LIMIT_FILE_SIZE', file.fieldname);
          error.message = `the files exceed ${bytesMax / 1024 / 1024} MB in total`;
          return done(error);
        }
        size += chunk.length;
        chunks.push(chunk);
      });
      file.stream.on('end', () => {
        if (!refused) done(null, { buffer: Buffer.concat(chunks, size), size });
      });
    },
    _removeFile: (_req, _file, done) => done(null),
  };
}
