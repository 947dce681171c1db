// Declares `req.id` and `req.log` for importers of this package.
import 'pino-http';
import type { HeldKey } from './idempotency-keys';
import type { Operation } from './openapi-document';
import type { Principal } from './principal';

declare global {
  namespace Express {
    interface Request {
      /** Set if the operation accepts a credential and got a valid one. */
      principal?: Principal;
      operation?: Operation;
      /** The path as requested; `path` is the one that the OpenAPI file documents. */
      askedPath?: string;
      /** The Idempotency-Key that this request holds. */
      idempotencyKey?: HeldKey;
      /** The unparsed JSON body, for signatures; absent without one. */
      rawBody?: Buffer;
    }
  }
}
