// Declares `req.id` and `req.log` for importers of this package.
import 'pino-http';
import type { Operation } from './openapi-document';

declare global {
  namespace Express {
    interface Request {
      operation?: Operation;
      /** The path as requested; `path` is the one that the OpenAPI file documents. */
      askedPath?: string;
      /** The unparsed JSON body, for signatures; absent without one. */
      rawBody?: Buffer;
    }
  }
}
