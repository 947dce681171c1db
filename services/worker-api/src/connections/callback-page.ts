/** The page that a browser sees when it comes back from a provider: nothing in it is from elsewhere. */
import { createHash } from 'node:crypto';
import { escapeHtml } from '@gantry/http';
import type { Response } from 'express';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:32rem;padding:0 1.5rem;color:#1c1e21;background:#fff}
h1{font-size:1.4rem;margin:0 0 .75rem}a{color:#0b5cad}p{overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){body{color:#e6e7e9;background:#17181a}a{color:#7ab8ff}}`;

const CLOSE_SCRIPT = 'if(window.opener)window.close()';

const buildCspHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src ${buildCspHash(STYLE)}`,
  `script-src ${buildCspHash(CLOSE_SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface CallbackPage {
  title: string;
  /** Plain text; it may hold words of strangers. */
  text: string;
  link: { href: string; label: string };
  /** Whether a window that was opened for it closes by itself. */
  closes: boolean;
}

export function sendCallbackPage(res: Response, status: 200 | 400, { title, text, link, closes }: CallbackPage): void {
  res
    .status(status)
    .set({
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-store',
      // The address of this page holds a code.
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    })
    .type('html')
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
        `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main><h1>${escapeHtml(title)}</h1>` +
        `<p>${escapeHtml(text)}</p><p><a href="${escapeHtml(link.href)}">${escapeHtml(link.label)}</a></p></main>` +
        `${closes ? `<script>${CLOSE_SCRIPT}</script>` : ''}</body></html>`,
    );
}
