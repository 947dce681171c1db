// Declares `req.files` and `req.log`, which requests with an Idempotency-Key use.
import type {} from 'multer';
import type {} from 'pino-http';
import type { HeldKey } from './idempotency-keys';
import type { Principal } from './principal';

declare global {
  namespace Express {
    interface Request {
      /** Set if the operation accepts a credential and got a valid one. */
      principal?: Principal;
      /** The Idempotency-Key that this request holds. */
      idempotencyKey?: HeldKey;
    }
  }
}
