/** Bodies that are not JSON, held in memory up to a bound that counts while they arrive. */
import type { Request, RequestHandler } from 'express';
import multer from 'multer';
import { AppError, unavailable } from './errors';

const tooLarge = (bytesMax: number) =>
  new AppError('too_large', 'too_large', `the body is larger than ${bytesMax / 1024 / 1024} MB`);

/**
 * The bytes of a body that nothing has read yet.
 * @throws AppError 413 as soon as there are more than `bytesMax`; 415 for compressed ones, which nobody means to keep so
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
  if (Number(req.headers['content-length']) > bytesMax) throw tooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const UPLOADS_AT_ONCE = 32;

/**
 * Forms are read before anybody is asked who is calling, and held in memory until they are answered: so many at a time, and
 * 503 for others. Without it a few hundred slow senders would take all memory.
 */
export function boundUploads(max = UPLOADS_AT_ONCE): RequestHandler {
  let open = 0;
  return (req, res, next) => {
    if (!req.is('multipart/form-data')) return next();
    if (open >= max) return next(unavailable('room for another upload'));
    open++;
    res.once('close', () => open--);
    next();
  };
}

/** For `uploads.storage`: all files of one form together may have `bytesMax`. What comes after is not kept. */
export function memoryForAll(bytesMax: number): multer.StorageEngine {
  const taken = new WeakMap<Request, number>();
  return {
    _handleFile: (req, file, done) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let refused = false;
      file.stream.on('data', (chunk: Buffer) => {
        if (refused) return;
        const total = (taken.get(req) ?? 0) + chunk.length;
        taken.set(req, total);
        if (total > bytesMax) {
          refused = true;
          chunks.length = 0;
          const error = new multer.MulterError('LIMIT_FILE_SIZE', file.fieldname);
          error.message = `the files are larger than ${bytesMax / 1024 / 1024} MB together`;
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
