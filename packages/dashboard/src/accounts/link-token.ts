export type LinkPurpose = 'invitation' | 'reset' | 'setup' | 'verification';

/**
 * Reads the token of a mailed link. It is in the fragment, which no server sees. It is kept for this tab while
 * the member signs in, and removed from the address, so that neither history nor a screenshot reveals it.
 */
export function readLinkToken(purpose: LinkPurpose): string | null {
  const key = `gantry-${purpose}`;
  const hashToken = window.location.hash.slice(1);
  if (hashToken) {
    sessionStorage.setItem(key, hashToken);
    window.history.replaceState(window.history.state, '', window.location.pathname);
  }
  return sessionStorage.getItem(key);
}

export const clearLinkToken = (purpose: LinkPurpose): void => sessionStorage.removeItem(`gantry-${purpose}`);
