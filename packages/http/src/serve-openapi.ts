/** Serves the OpenAPI document of a surface at /openapi.json and /openapi.yaml of its own host. */
import { readFileSync } from 'node:fs';
import { type RequestHandler, Router } from 'express';
import { dump, load } from 'js-yaml';
import { requireReadMethod } from './allowed-methods';

/** @param server the public address; null: the document's own servers */
export function createOpenapiRouter(openapiFile: string, server: string | null): Router {
  let document: Record<string, unknown> | undefined;
  const loadDocument = () => {
    document ??= load(readFileSync(openapiFile, 'utf8')) as Record<string, unknown>;
    return server === null ? document : { ...document, servers: [{ url: server }] };
  };
  /** Serialized once: the longest takes a hundred milliseconds, and the route is public. */
  const createSender = (type: string, write: (document: object) => string): RequestHandler => {
    let text: string | undefined;
    return (_req, res) => {
      text ??= write(loadDocument());
      res.set('Cache-Control', 'no-cache').type(type).send(text);
    };
  };
  const router = Router();
  router.all(['/openapi.json', '/openapi.yaml'], requireReadMethod);
  router.get('/openapi.json', createSender('application/json', JSON.stringify));
  router.get(
    '/openapi.yaml',
    createSender('application/yaml', (one) => dump(one, { noRefs: true, lineWidth: 120 })),
  );
  return router;
}
