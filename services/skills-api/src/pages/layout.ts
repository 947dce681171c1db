import type { Response } from 'express';
import { type Html, html } from '../rendering/html';
import { fontUrl, iconUrl, scriptUrl, stylesheetUrl } from './assets';

export interface PageHead {
  title: string;
  description: string;
  /** Absolute; the canonical address. */
  url: string;
  /** Search engines may list it. */
  indexed: boolean;
  kind?: 'article' | 'website';
  /** `<link>` elements of this page only. */
  links?: Html;
}

/** Allows only the platform's own stylesheet, script and typeface, and inline pictures. */
const CSP = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function sendPage(res: Response, head: PageHead, body: Html): void {
  res.set({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': CSP,
    'Referrer-Policy': 'no-referrer',
  });
  res.send(`<!doctype html>\n${renderPage(head, body)}\n`);
}

function renderPage({ title, description, url, indexed, kind = 'website', links }: PageHead, body: Html): Html {
  return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Gantry skills</title>
<meta name="description" content="${description}">
${indexed ? html`<link rel="canonical" href="${url}">` : html`<meta name="robots" content="noindex">`}
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:type" content="${kind}">
<meta property="og:url" content="${url}">
<meta property="og:site_name" content="Gantry skills">
<meta name="twitter:card" content="summary">
${links}
<link rel="icon" href="${iconUrl}" type="image/svg+xml">
<link rel="preload" href="${fontUrl}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${stylesheetUrl}">
<script src="${scriptUrl}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="site"><a class="brand" href="/">Gantry <span>skills</span></a>
<form action="/" role="search"><input type="search" name="q" aria-label="Search skills" placeholder="Search skills" maxlength="200"></form>
</header>
<main id="content">
${body}
</main>
</body>
</html>`;
}
