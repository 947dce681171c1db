/**
 * Where to go after signing in. Only a path of this site comes back: a link to the sign-in page must not be able to send
 * people elsewhere (`//evil.example`, `/\evil.example`, `javascript:`, `https://…`).
 */
export function nextPath(asked: string | null, origin: string): string {
  if (!asked?.startsWith('/')) return '/';
  try {
    const url = new URL(asked, origin);
    const target = url.pathname + url.search + url.hash;
    return url.origin === origin && !target.startsWith('//') && url.pathname !== '/sign-in' ? target : '/';
  } catch {
    return '/';
  }
}

export const signInPath = ({ pathname, search }: { pathname: string; search: string }): string =>
  pathname === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(pathname + search)}`;
