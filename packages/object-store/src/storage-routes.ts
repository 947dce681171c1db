/** The other end of the file driver's presigned URLs. Mounted beside the API: the URL is the whole credential. */
import { Readable } from 'node:stream';
import { AppError, atSpeed, leaveBodyUnread, methodNotAllowed, type Places, places } from '@gantry/http';
import { type Request, type Response, Router } from 'express';
import type { FileStore } from './file-store';
import { attachment, toStoreError } from './object-store';
import { type Grant, readGrant, STORAGE_PATH } from './signed-url';

/** Limit for a workspace and for an address; all runs of an executor come from one address. */
const UPLOADS_AT_ONCE = 128;

/** @param closedWorkspaces whose objects cannot be read or written, even with an earlier URL */
export function storageRoutes(store: FileStore, closed: { has(workspaceId: string): boolean }): Router {
  const router = Router();
  const taken = places('uploads', { perCredential: UPLOADS_AT_ONCE, perAddress: UPLOADS_AT_ONCE });
  router.all(`${STORAGE_PATH}*key`, async (req, res) => {
    const grant = readGrant(store.signingKey, { method: req.method, key: keyOf(req), query: req.query });
    if (!grant) {
      leaveBodyUnread(req, res);
      const signed = readGrant(store.signingKey, {
        method: String(req.query.method),
        key: keyOf(req),
        query: req.query,
      });
      if (signed) throw methodNotAllowed(req, res, 'this URL', signed.method === 'PUT' ? ['PUT'] : ['GET', 'HEAD']);
      throw new AppError('forbidden', 'bad_signature', 'this URL was changed or has expired');
    }
    if (closed.has(grant.key.slice(0, grant.key.indexOf('/')))) {
      leaveBodyUnread(req, res);
      throw gone();
    }
    res.set('Cache-Control', 'private, no-store');
    if (grant.method === 'PUT') await receive(store, taken, grant, req, res);
    else await send(store, grant, res);
  });
  return router;
}

const gone = () => new AppError('not_found', 'not_found', 'this file is gone');

/** Taken from the URL as it is: a key has no character that would be encoded, so an encoded one is not a key. */
const keyOf = (req: Request): string => req.path.slice(STORAGE_PATH.length);

async function receive(store: FileStore, taken: Places, grant: Grant, req: Request, res: Response): Promise<void> {
  const sizeMax = grant.sizeMax ?? 0;
  const tooLarge = () => new AppError('too_large', 'too_large', `the upload is larger than ${sizeMax} bytes`);
  const stopped = new AbortController();
  try {
    if (Number(req.get('Content-Length') ?? 0) > sizeMax) throw tooLarge();
    if (grant.contentType !== undefined && req.get('Content-Type') !== grant.contentType) {
      throw new AppError('unsupported_type', 'unsupported_type', `send it with Content-Type: ${grant.contentType}`);
    }
    res.once('close', taken.take(req, workspaceOf(grant)));
    const body = Readable.from(atMost(sizeMax, req, tooLarge, stopped.signal));
    await atSpeed(req, store.put(grant.key, body));
  } catch (err) {
    stopped.abort();
    leaveBodyUnread(req, res);
    if (err instanceof AppError && err.kind === 'too_large') await store.putHollow(grant.key, sizeMax + 1);
    throw err;
  }
  res.status(200).end();
}

const workspaceOf = ({ key }: Grant): string => `workspace:${key.split('/', 1)[0]}`;

/** Pulled by the store as it writes, so a slow disk slows the sender; a sender that leaves ends it with an error. */
async function* atMost(
  sizeMax: number,
  body: Readable,
  tooLarge: () => Error,
  stopped: AbortSignal,
): AsyncGenerator<Buffer> {
  let size = 0;
  // Leaving the loop must not destroy the request: the refusal goes out on the same connection.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    // A refused body is not kept, even if the rest of it arrives.
    stopped.throwIfAborted();
    size += chunk.length;
    if (size > sizeMax) throw tooLarge();
    yield chunk;
  }
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
      if (err && !res.headersSent) reject(toStoreError(err));
      else resolve();
    });
  });
}
