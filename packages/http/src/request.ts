// Brings `req.id` and `req.log` along to whoever imports this package.
import 'pino-http';
import type { HeldKey } from './idempotency-keys';
import type { Operation } from './openapi-document';
import type { Principal } from './principal';

declare global {
  namespace Express {
    interface Request {
      /** Set where the operation asks for a credential and got a good one. */
      principal?: Principal;
      operation?: Operation;
      /** The path as the caller wrote it; `path` is the one that the OpenAPI file documents. */
      askedPath?: string;
      /** The Idempotency-Key that this request works under. */
      idempotencyKey?: HeldKey;
      /** The JSON body as it came, for signatures; absent without one. */
      rawBody?: Buffer;
    }
  }
}
