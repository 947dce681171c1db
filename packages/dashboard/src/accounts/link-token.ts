export type LinkPurpose = 'invitation' | 'reset' | 'setup' | 'verification';

/**
 * The token of a link that was sent to somebody stands behind `#`, where no server sees it. It is kept for this tab while
 * the person signs in, and taken out of the address, so that neither history nor a screenshot gives it away.
 */
export function takeLinkToken(purpose: LinkPurpose): string | null {
  const key = `gantry-${purpose}`;
  const inAddress = window.location.hash.slice(1);
  if (inAddress) {
    sessionStorage.setItem(key, inAddress);
    window.history.replaceState(window.history.state, '', window.location.pathname);
  }
  return sessionStorage.getItem(key);
}

export const forgetLinkToken = (purpose: LinkPurpose): void => sessionStorage.removeItem(`gantry-${purpose}`);
