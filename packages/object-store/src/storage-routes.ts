/** The other end of the file driver's presigned URLs. Mounted beside the API: the URL is the whole credential. */
import { Readable } from 'node:stream';
import { AppError } from '@gantry/errors';
import { discardBody, enforceMinBodyRate, methodNotAllowed } from '@gantry/http';
import { createSlots, type Slots } from '@gantry/limits';
import { type Request, type Response, Router } from 'express';
import type { FileStore } from './file-store';
import { buildContentDisposition, toStoreError } from './object-store';
import { type Grant, parseGrant, STORAGE_PATH } from './signed-url';

/** Limit for a workspace and for an address; all runs of an executor come from one address. */
const CONCURRENT_UPLOADS_MAX = 128;

/** @param closedWorkspaces whose objects cannot be read or written, even with an earlier URL */
export function createStorageRoutes(store: FileStore, closedWorkspaces: { has(workspaceId: string): boolean }): Router {
  const router = Router();
  const uploadSlots = createSlots('uploads', {
    perCredential: CONCURRENT_UPLOADS_MAX,
    perAddress: CONCURRENT_UPLOADS_MAX,
  });
  router.all(`${STORAGE_PATH}*key`, async (req, res) => {
    const grant = parseGrant(store.signingKey, { method: req.method, key: getKey(req), query: req.query });
    if (!grant) {
      discardBody(req, res);
      const signed = parseGrant(store.signingKey, {
        method: String(req.query.method),
        key: getKey(req),
        query: req.query,
      });
      if (signed) throw methodNotAllowed(req, res, 'this URL', signed.method === 'PUT' ? ['PUT'] : ['GET', 'HEAD']);
      throw new AppError('forbidden', 'bad_signature', 'this URL has been changed or has expired');
    }
    if (closedWorkspaces.has(grant.key.slice(0, grant.key.indexOf('/')))) {
      discardBody(req, res);
      throw goneError();
    }
    res.set('Cache-Control', 'private, no-store');
    if (grant.method === 'PUT') await handleUpload(store, uploadSlots, grant, req, res);
    else await handleDownload(store, grant, res);
  });
  return router;
}

const goneError = () => new AppError('not_found', 'not_found', 'this file no longer exists');

/** Taken from the URL as it is: a key has no character that would be encoded, so an encoded one is not a key. */
const getKey = (req: Request): string => req.path.slice(STORAGE_PATH.length);

async function handleUpload(
  store: FileStore,
  uploadSlots: Slots,
  grant: Grant,
  req: Request,
  res: Response,
): Promise<void> {
  const sizeMax = grant.sizeMax ?? 0;
  const tooLargeError = () => new AppError('too_large', 'too_large', `the upload is larger than ${sizeMax} bytes`);
  const aborted = new AbortController();
  try {
    if (Number(req.get('Content-Length') ?? 0) > sizeMax) throw tooLargeError();
    if (grant.contentType !== undefined && req.get('Content-Type') !== grant.contentType) {
      throw new AppError('unsupported_type', 'unsupported_type', `send Content-Type: ${grant.contentType}`);
    }
    res.once('close', uploadSlots.acquire(req, getWorkspaceSlotKey(grant)));
    const body = Readable.from(limitSize(sizeMax, req, tooLargeError, aborted.signal));
    await enforceMinBodyRate(req, store.put(grant.key, body));
  } catch (err) {
    aborted.abort();
    discardBody(req, res);
    if (err instanceof AppError && err.kind === 'too_large') await store.putSparse(grant.key, sizeMax + 1);
    throw err;
  }
  res.status(200).end();
}

const getWorkspaceSlotKey = ({ key }: Grant): string => `workspace:${key.split('/', 1)[0]}`;

/** Pulled by the store as it writes, so a slow disk slows the sender; a sender that leaves ends it with an error. */
async function* limitSize(
  sizeMax: number,
  body: Readable,
  tooLarge: () => Error,
  aborted: AbortSignal,
): AsyncGenerator<Buffer> {
  let size = 0;
  // Leaving the loop must not destroy the request: the refusal goes out on the same connection.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    // A refused body is not kept, even if the rest of it arrives.
    aborted.throwIfAborted();
    size += chunk.length;
    if (size > sizeMax) throw tooLarge();
    yield chunk;
  }
}

async function handleDownload(store: FileStore, grant: Grant, res: Response): Promise<void> {
  if (!(await store.head(grant.key))) throw goneError();
  // Not with set(), which would add a charset to text.
  res.setHeader('Content-Type', grant.contentType ?? 'application/octet-stream');
  res.set({
    'Content-Disposition': buildContentDisposition(grant.filename),
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-site',
  });
  await new Promise<void>((resolve, reject) => {
    // Its Range and conditional handling is why: large artifacts resume. A client that leaves is no failure.
    res.sendFile(store.getPath(grant.key), { dotfiles: 'allow', cacheControl: false, etag: false }, (err) => {
      if (err && !res.headersSent) reject(toStoreError(err));
      else resolve();
    });
  });
}
