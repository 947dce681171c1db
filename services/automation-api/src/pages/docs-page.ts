/** Serves the API reference at /docs and the OpenAPI files at /openapi, as built by packages/api-docs. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '@gantry/errors';
import { requireReadMethod } from '@gantry/http';
import express, { Router } from 'express';

export interface DocsPageOptions {
  directory: string;
  /** Public address of each surface that has an OpenAPI file. */
  addresses: Record<string, string>;
}

/** Placeholder for the server in the built files: their public address is not known at build time. */
const SERVER = /^servers:\n {2}- url: \/$/m;

export function serveDocsPage({ directory, addresses }: DocsPageOptions): Router {
  const csp = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    // "Try it out" sends requests to the surface of the operation.
    `connect-src ${["'self'", ...Object.values(addresses).map((url) => new URL(url).origin)].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

  const files = Object.keys(addresses).map((surface) => `/openapi/${surface}.yaml`);
  const router = Router();
  router.use(['/docs', '/openapi'], requireReadMethod);
  for (const [surface, address] of Object.entries(addresses)) {
    router.get(`/openapi/${surface}.yaml`, (_req, res) => {
      const file = readBuiltFile(path.join(directory, 'openapi', `${surface}.yaml`));
      res.set('Cache-Control', 'no-cache').type('application/yaml');
      res.send(file.replace(SERVER, () => `servers:\n  - url: ${address}`));
    });
  }
  router.use(
    '/docs',
    express.static(path.join(directory, 'docs'), {
      setHeaders: (res) => void res.set('Cache-Control', 'no-cache').set('Content-Security-Policy', csp),
    }),
  );
  // Otherwise the dashboard would serve its own page.
  router.use(['/docs', '/openapi'], () => {
    throw new AppError('not_found', 'not_found', `the API reference is at /docs; its files are ${files.join(', ')}`);
  });
  return router;
}

function readBuiltFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AppError('not_found', 'not_built', 'the API reference has not been built: run "npm run build"', {
      cause,
    });
  }
}
