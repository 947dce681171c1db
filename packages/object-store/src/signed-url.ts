/**
 * A presigned URL is a grant: a method, a key (which starts with the workspace), a maximum size, an expiry.
 * All of them are in the URL in the clear and covered by one HMAC-SHA-256, so changing any of them invalidates the
 * grant.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isKey } from './object-store';

export interface Grant {
  method: 'PUT' | 'GET';
  key: string;
  /** Epoch seconds. */
  expires: number;
  /** PUT only. */
  sizeMax?: number | undefined;
  contentType?: string | undefined;
  filename?: string | undefined;
}

export const STORAGE_PATH = '/storage/';

/** Path and query, to be appended to an address. */
export function signGrant(signingKey: string, grant: Grant): string {
  const query = new URLSearchParams({ method: grant.method, expires: String(grant.expires) });
  if (grant.sizeMax !== undefined) query.set('max', String(grant.sizeMax));
  if (grant.contentType !== undefined) query.set('type', grant.contentType);
  if (grant.filename !== undefined) query.set('name', grant.filename);
  query.set('sig', computeSignature(signingKey, grant).toString('base64url'));
  return `${STORAGE_PATH}${grant.key}?${query}`;
}

/** Null for anything but an intact, unexpired grant for this method. A HEAD may use a GET's. */
export function parseGrant(
  signingKey: string,
  request: { method: string; key: string; query: Record<string, unknown> },
): Grant | null {
  const { method, expires, max, type, name, sig } = request.query;
  if (method !== 'PUT' && method !== 'GET') return null;
  if (request.method !== method && !(request.method === 'HEAD' && method === 'GET')) return null;
  if (typeof sig !== 'string' || !isCount(expires) || !isKey(request.key)) return null;
  if (method === 'PUT' && !isCount(max)) return null;
  const grant: Grant = {
    method,
    key: request.key,
    expires: Number(expires),
    sizeMax: isCount(max) ? Number(max) : undefined,
    contentType: typeof type === 'string' ? type : undefined,
    filename: typeof name === 'string' ? name : undefined,
  };
  const signatureBytes = Buffer.from(sig, 'base64url');
  const expectedSignature = computeSignature(signingKey, grant);
  if (signatureBytes.length !== expectedSignature.length || !timingSafeEqual(signatureBytes, expectedSignature))
    return null;
  return grant.expires * 1000 > Date.now() ? grant : null;
}

const isCount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,15}$/.test(value);

/** JSON separates the parts unambiguously. */
function computeSignature(signingKey: string, grant: Grant): Buffer {
  const { method, key, expires, sizeMax = null, contentType = null, filename = null } = grant;
  return createHmac('sha256', signingKey)
    .update(JSON.stringify(['storage v1', method, key, expires, sizeMax, contentType, filename]))
    .digest();
}
