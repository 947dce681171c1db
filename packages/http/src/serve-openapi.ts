/** Serves the OpenAPI document of a surface at /openapi.json and /openapi.yaml of its own host. */
import { readFileSync } from 'node:fs';
import { type RequestHandler, Router } from 'express';
import { dump, load } from 'js-yaml';
import { readOnly } from './allowed-methods';

/** @param server the public address; null: the document's own servers */
export function serveOpenapi(openapiFile: string, server: string | null): Router {
  let document: Record<string, unknown> | undefined;
  const read = () => {
    document ??= load(readFileSync(openapiFile, 'utf8')) as Record<string, unknown>;
    return server === null ? document : { ...document, servers: [{ url: server }] };
  };
  /** Serialized once: the longest takes a hundred milliseconds, and the route is public. */
  const send = (type: string, write: (document: object) => string): RequestHandler => {
    let text: string | undefined;
    return (_req, res) => {
      text ??= write(read());
      res.set('Cache-Control', 'no-cache').type(type).send(text);
    };
  };
  const router = Router();
  router.all(['/openapi.json', '/openapi.yaml'], readOnly);
  router.get('/openapi.json', send('application/json', JSON.stringify));
  router.get(
    '/openapi.yaml',
    send('application/yaml', (one) => dump(one, { noRefs: true, lineWidth: 120 })),
  );
  return router;
}
