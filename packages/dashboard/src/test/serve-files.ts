import { existsSync, readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';

/** The policy that the page has to work under: no inline script or style, no external sources. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Serves a built page: its files, and `index.html` for every other path. */
export function serveFiles(dist: string, pathname: string, res: ServerResponse): void {
  const requestedFile = path.join(dist, path.normalize(pathname));
  const file =
    existsSync(requestedFile) && statSync(requestedFile).isFile() ? requestedFile : path.join(dist, 'index.html');
  const isAsset = file.startsWith(path.join(dist, 'assets'));
  res.writeHead(200, {
    'Cache-Control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Content-Type': CONTENT_TYPES[path.extname(file)] ?? 'application/octet-stream',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'X-Content-Type-Options': 'nosniff',
  });
  res.end(readFileSync(file));
}
