/** The other end of the file driver's presigned URLs. Mounted beside the API: the URL is the whole credential. */
import { Readable } from 'node:stream';
import { AppError } from '@gantry/http';
import { type Request, type Response, Router } from 'express';
import type { FileStore } from './file-store';
import { attachment } from './object-store';
import { type Grant, readGrant, STORAGE_PATH } from './signed-url';

/** How long a refused sender may go on sending before it is cut off; it can read the refusal meanwhile. */
const REFUSED_GRACE_MS = 10_000;

/** @param closed workspaces whose objects nobody may read or write, whatever URL was made before */
export function storageRoutes(store: FileStore, closed: { has(workspaceId: string): boolean }): Router {
  const router = Router();
  router.all(`${STORAGE_PATH}*key`, async (req, res) => {
    const grant = readGrant(store.signingKey, { method: req.method, key: keyOf(req), query: req.query });
    if (!grant) {
      cutOffLater(req);
      throw new AppError('forbidden', 'bad_signature', 'this URL was changed, has expired, or is for another method');
    }
    if (closed.has(grant.key.slice(0, grant.key.indexOf('/')))) {
      cutOffLater(req);
      throw gone();
    }
    res.set('Cache-Control', 'private, no-store');
    if (grant.method === 'PUT') await receive(store, grant, req, res);
    else await send(store, grant, res);
  });
  return router;
}

const gone = () => new AppError('not_found', 'not_found', 'this file is gone');

/** Taken from the URL as it is: a key has no character that would be encoded, so an encoded one is not a key. */
const keyOf = (req: Request): string => req.path.slice(STORAGE_PATH.length);

async function receive(store: FileStore, grant: Grant, req: Request, res: Response): Promise<void> {
  const sizeMax = grant.sizeMax ?? 0;
  const tooLarge = () => new AppError('too_large', 'too_large', `the upload is larger than ${sizeMax} bytes`);
  if (Number(req.get('Content-Length') ?? 0) > sizeMax) {
    cutOffLater(req);
    throw tooLarge();
  }
  if (grant.contentType !== undefined && req.get('Content-Type') !== grant.contentType) {
    cutOffLater(req);
    throw new AppError('unsupported_type', 'unsupported_type', `send it with Content-Type: ${grant.contentType}`);
  }
  try {
    await store.put(grant.key, Readable.from(atMost(sizeMax, req, tooLarge)));
  } catch (err) {
    cutOffLater(req);
    throw err;
  }
  res.status(200).end();
}

/** Pulled by the store as it writes, so a slow disk slows the sender; a sender that leaves ends it with an error. */
async function* atMost(sizeMax: number, body: Readable, tooLarge: () => Error): AsyncGenerator<Buffer> {
  let size = 0;
  // Leaving the loop must not destroy the request: the refusal goes out on the same connection.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > sizeMax) throw tooLarge();
    yield chunk;
  }
}

/** Node discards what still comes once the answer is out; this bounds for how long. */
function cutOffLater(req: Request): void {
  if (req.complete) return;
  const timer = setTimeout(() => req.destroy(), REFUSED_GRACE_MS).unref();
  req.once('close', () => clearTimeout(timer));
}

async function send(store: FileStore, grant: Grant, res: Response): Promise<void> {
  if (!(await store.head(grant.key))) throw gone();
  // Not with set(), which would add a charset to text.
  res.setHeader('Content-Type', grant.contentType ?? 'application/octet-stream');
  res.set({
    'Content-Disposition': attachment(grant.filename),
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-site',
  });
  await new Promise<void>((resolve, reject) => {
    // Its Range and conditional handling is why: large artifacts resume. A client that leaves is no failure.
    res.sendFile(store.pathOf(grant.key), { dotfiles: 'allow', cacheControl: false, etag: false }, (err) => {
      if (err && !res.headersSent) reject(err);
      else resolve();
    });
  });
}
