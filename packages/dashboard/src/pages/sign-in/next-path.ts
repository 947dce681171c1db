import { paths } from '../../shell/paths';

/**
 * The page to go to after signing in. Only a path of this site comes back: a link to the sign-in page must not be able to send
 * people elsewhere (`//evil.example`, `/\evil.example`, `javascript:`, `https://…`).
 */
export function nextPath(asked: string | null, origin: string): string {
  if (!asked?.startsWith('/')) return paths.home;
  try {
    const url = new URL(asked, origin);
    const target = url.pathname + url.search + url.hash;
    return url.origin === origin && !target.startsWith('//') && url.pathname !== paths.signIn ? target : paths.home;
  } catch {
    return paths.home;
  }
}
