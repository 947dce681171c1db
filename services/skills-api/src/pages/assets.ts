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

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

function buildAsset(file: string, content: Buffer): Asset {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const { name, ext } = path.parse(file);
  return { url: `/assets/${name}.${hash}${ext}`, content, type: TYPES[ext] ?? 'application/octet-stream', hash };
}

const readAsset = (file: string): Asset => buildAsset(file, readFileSync(file));

/** Files that the stylesheets reference. */
const referencedAssets: Asset[] = [];

/** Reads a stylesheet and replaces its relative file URLs with asset URLs. */
function readRules(file: string): string {
  return readFileSync(file, 'utf8').replace(/url\(["']?(\.\/[^()"']+)["']?\)/g, (_url, beside: string) => {
    const asset = readAsset(path.join(path.dirname(file), beside));
    referencedAssets.push(asset);
    return `url(${asset.url})`;
  });
}

// The typeface is that of the dashboard: its rules name a font file for each range of characters.
const rules = [path.join(TYPEFACE, 'index.css'), path.join(DIR, 'skills.css')].map(readRules);
const stylesheet = buildAsset('skills.css', Buffer.from(rules.join('\n')));
const script = readAsset(path.join(DIR, 'copy.js'));
const icon = readAsset(path.join(DIR, 'favicon.svg'));

export const stylesheetUrl = stylesheet.url;
export const scriptUrl = script.url;
export const iconUrl = icon.url;
/** Font file with the letters that nearly every page needs. */
export const fontUrl = referencedAssets.find(({ url }) => url.includes('-latin-wght-'))?.url;
/** Part of every page's ETag. */
export const assetsVersion = `${stylesheet.hash}${script.hash}${icon.hash}`;

export function serveAssets(app: Express): void {
  // Browsers that read no SVG request it on their own.
  app.get('/favicon.ico', (_req, res) => void res.set('Cache-Control', 'public, max-age=86400').status(204).end());
  for (const { url, content, type } of [stylesheet, script, icon, ...referencedAssets]) {
    app.get(url, (_req, res) => {
      res.set({ 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' }).send(content);
    });
  }
}
