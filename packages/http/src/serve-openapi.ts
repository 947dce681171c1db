/** Serves the OpenAPI document of a surface at /openapi.json and /openapi.yaml of its own host. */
import { readFileSync } from 'node:fs';
import { type RequestHandler, Router } from 'express';
import { requireReadMethod } from './allowed-methods';
import { readDocument } from './openapi-document';

/** The top-level field with the lines of its value. */
const SERVERS = /^servers:.*\n(?:[ -].*\n)*/m;

/**
 * @param openapiFile YAML, or JSON beside which the same document is in YAML
 * @param server the public address; null: the document's own servers
 */
export function createOpenapiRouter(openapiFile: string, server: string | null): Router {
  const servers = server === null ? null : [{ url: server }];
  const formatJson = () => JSON.stringify({ ...readDocument(openapiFile), ...(servers && { servers }) });
  const formatYaml = () => {
    const text = readFileSync(openapiFile.replace(/\.json$/, '.yaml'), 'utf8');
    return servers ? `${text.replace(SERVERS, '')}servers: ${JSON.stringify(servers)}\n` : text;
  };
  /** The text is made once: the route is public. */
  const createSender = (type: string, format: () => string): RequestHandler => {
    let text: string | undefined;
    return (_req, res) => {
      text ??= format();
      res.set('Cache-Control', 'no-cache').type(type).send(text);
    };
  };
  const router = Router();
  router.all(['/openapi.json', '/openapi.yaml'], requireReadMethod);
  router.get('/openapi.json', createSender('application/json', formatJson));
  router.get('/openapi.yaml', createSender('application/yaml', formatYaml));
  return router;
}
