import { paths } from '../../shell/paths';

/**
 * Returns the page to open after signing in. Returns only paths of this site, so that a link to the sign-in page cannot
 * redirect elsewhere (`//evil.example`, `/\evil.example`, `javascript:`, `https://…`).
 */
export function resolveNextPath(requestedPath: string | null, origin: string): string {
  if (!requestedPath?.startsWith('/')) return paths.home;
  try {
    const url = new URL(requestedPath, origin);
    const target = url.pathname + url.search + url.hash;
    return url.origin === origin && !target.startsWith('//') && url.pathname !== paths.signIn ? target : paths.home;
  } catch {
    return paths.home;
  }
}
