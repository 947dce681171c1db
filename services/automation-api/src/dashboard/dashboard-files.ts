/** Serves the dashboard's built files, and its one page for every address that a browser may open. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { requireReadMethod } from '@gantry/http';
import express, { type RequestHandler, Router } from 'express';

/** API addresses: an unknown one is a JSON error, not the dashboard. */
const NON_PAGE_PATH = /^\/(api[^/]*|v1|auth|storage|healthz?|\.well-known|openapi\.(json|yaml|yml))(\/|$)/i;
/** Pages whose address is the credential: kept out of search engines and from other sites. */
const LINK_PAGE_PATH = /^\/(shared|review)\//;
const YEAR_SECONDS = 31_536_000;

export interface DashboardOptions {
  directory: string;
  /** Other surfaces that the page calls: the only ones that its policy lets it reach. */
  addresses: { baseUrl: string; skillsUrl: string };
}

export function serveDashboard({ directory, addresses }: DashboardOptions): Router {
  const root = path.resolve(directory);
  const csp = [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    // Chromium writes some itself when the text of an editor is replaced. They hold no selector, and what they load is
    // subject to img-src and font-src.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    `connect-src ${["'self'", ...Object.values(addresses).map((url) => new URL(url).origin)].join(' ')}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

  const router = Router();
  // API addresses never reach the file system.
  router.use((req, _res, next) => next(NON_PAGE_PATH.test(req.path) ? 'router' : undefined));
  router.use(
    '/assets',
    // Their names carry a hash of their content.
    express.static(path.join(root, 'assets'), { immutable: true, maxAge: YEAR_SECONDS * 1_000, fallthrough: false }),
  );
  router.use(express.static(root, { index: false, setHeaders: (res) => void res.set('Cache-Control', 'no-cache') }));
  router.all(['/', '/config.json'], requireReadMethod);
  // One build serves every installation: the page asks where the other surfaces are.
  router.get('/config.json', (_req, res) => {
    res.set('Cache-Control', 'no-cache').json({ base_url: addresses.baseUrl, skills_url: addresses.skillsUrl });
  });
  router.get('*path', servePage(root, csp));
  router.get('/', servePage(root, csp));
  return router;
}

function servePage(root: string, csp: string): RequestHandler {
  const index = path.join(root, 'index.html');
  return (req, res, next) => {
    if (!req.accepts('html')) return next();
    res.set({ 'Content-Security-Policy': csp, 'Cache-Control': 'no-cache' });
    if (LINK_PAGE_PATH.test(req.path))
      res.set({ 'X-Robots-Tag': 'noindex, nofollow', 'Referrer-Policy': 'no-referrer' });
    if (existsSync(index)) return res.sendFile(index, { cacheControl: false });
    res.status(503).type('html').send(NOT_BUILT);
  };
}

const NOT_BUILT = `<!doctype html><html lang="en"><title>Gantry</title><h1>The dashboard has not been built</h1>
<p>The API is available under <code>/api</code>. To get the dashboard too, run <code>npm run build</code> and restart
Gantry, or point <code>DASHBOARD_DIR</code> at a built dashboard.</p></html>`;
