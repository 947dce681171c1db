/** The stylesheet and script of the pages, under names that contain their hash, so that they can be cached permanently. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Express } from 'express';

const DIR = path.resolve(__dirname, '../../assets');

function readAsset(file: string, type: string) {
  const content = readFileSync(path.join(DIR, file));
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const { name, ext } = path.parse(file);
  return { url: `/assets/${name}.${hash}${ext}`, content, type, hash };
}

const stylesheet = readAsset('skills.css', 'text/css; charset=utf-8');
const script = readAsset('copy.js', 'text/javascript; charset=utf-8');

export const stylesheetUrl = stylesheet.url;
export const scriptUrl = script.url;
/** Part of every page's ETag. */
export const assetsVersion = `${stylesheet.hash}${script.hash}`;

export function serveAssets(app: Express): void {
  // Browsers request it on their own; there is none.
  app.get('/favicon.ico', (_req, res) => void res.set('Cache-Control', 'public, max-age=86400').status(204).end());
  for (const { url, content, type } of [stylesheet, script]) {
    app.get(url, (_req, res) => {
      res.set({ 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' }).send(content);
    });
  }
}
