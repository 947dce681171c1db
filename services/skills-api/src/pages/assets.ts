/** The files of the pages, under names that contain their hash, so that they can be cached permanently. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Express } from 'express';

const DIR = path.resolve(__dirname, '../../assets');
const TYPEFACE = path.dirname(require.resolve('@fontsource-variable/schibsted-grotesk/package.json'));

interface Asset {
  url: string;
  content: Buffer;
  type: string;
  hash: string;
}

function asset(file: string, type: string, content: Buffer): Asset {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const { name, ext } = path.parse(file);
  return { url: `/assets/${name}.${hash}${ext}`, content, type, hash };
}

const readAsset = (file: string, type: string): Asset => asset(file, type, readFileSync(path.join(DIR, file)));

/** The dashboard's typeface: its rules name the files that hold it, each with the letters that it has. */
function readTypeface(): { rules: string; fonts: Asset[] } {
  const fonts: Asset[] = [];
  const rules = readFileSync(path.join(TYPEFACE, 'index.css'), 'utf8').replace(/url\(\.\/([^)]+)\)/g, (_url, file) => {
    const font = asset(file, 'font/woff2', readFileSync(path.join(TYPEFACE, file)));
    fonts.push(font);
    return `url(${font.url})`;
  });
  return { rules, fonts };
}

const { rules, fonts } = readTypeface();
const stylesheet = asset(
  'skills.css',
  'text/css; charset=utf-8',
  Buffer.concat([Buffer.from(`${rules}\n`), readFileSync(path.join(DIR, 'skills.css'))]),
);
const script = readAsset('copy.js', 'text/javascript; charset=utf-8');
const icon = readAsset('favicon.svg', 'image/svg+xml');

export const stylesheetUrl = stylesheet.url;
export const scriptUrl = script.url;
export const iconUrl = icon.url;
/** Of the letters that nearly every page needs. */
export const fontUrl = fonts.find(({ url }) => url.includes('-latin-wght-'))?.url;
/** Part of every page's ETag. */
export const assetsVersion = `${stylesheet.hash}${script.hash}${icon.hash}`;

export function serveAssets(app: Express): void {
  // Browsers that read no SVG request it on their own.
  app.get('/favicon.ico', (_req, res) => void res.set('Cache-Control', 'public, max-age=86400').status(204).end());
  for (const { url, content, type } of [stylesheet, script, icon, ...fonts]) {
    app.get(url, (_req, res) => {
      res.set({ 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' }).send(content);
    });
  }
}
