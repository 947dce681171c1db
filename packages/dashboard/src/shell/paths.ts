/**
 * Every address of the dashboard, and the few of the platform that the browser follows without the typed client. Routes
 * and links are both made from here.
 */
export const paths = {
  home: '/',
  approvals: '/approvals',
  device: '/device',
  signIn: '/sign-in',
  invite: '/invite',
  forgotPassword: '/forgot-password',
  resetPassword: '/reset-password',
  verifyEmail: '/verify-email',
  members: '/settings/members',
  tokens: '/settings/tokens',
  auditLog: '/settings/audit-log',
  workspace: '/settings/workspace',
  account: '/settings/account',
} as const;

/** Addresses with a part that varies, as the router reads them. Review links are built by the service that mails them. */
export const patterns = {
  automation: '/a/:automationId',
  review: '/review/:token',
} as const;

export const automationPath = (automationId: string): string =>
  patterns.automation.replace(':automationId', encodeURIComponent(automationId));

/** The automation's page with one of its runs. */
export const runPath = (automationId: string, runId: string): string =>
  `${automationPath(automationId)}?run=${encodeURIComponent(runId)}`;

export const runIdIn = (search: URLSearchParams): string | null => search.get('run');

/** Leads back to where it was asked for. */
export const signInPath = ({ pathname, search = '' }: { pathname: string; search?: string }): string =>
  pathname === paths.home ? paths.signIn : `${paths.signIn}?next=${encodeURIComponent(pathname + search)}`;

export const nextIn = (search: URLSearchParams): string | null => search.get('next');

/** Signing in elsewhere. With `prove`, whoever is signed in already shows that an address is theirs. */
export const identityProviderUrl = (startUrl: string, returnTo: string, { prove = false } = {}): string =>
  `${startUrl}?${new URLSearchParams({ ...(prove && { prove: 'true' }), return_to: returnTo })}`;

/** Tells the addresses of the other surfaces. */
export const CONFIG_URL = '/config.json';

/**
 * Runs for their event streams and files. A member reads them as runs of the workspace; a visitor only through the page
 * that started them.
 */
export function runUrls(automationId: string, access: 'member' | 'link') {
  const runs = access === 'member' ? '/api/runs' : `/api/pages/${encodeURIComponent(automationId)}/runs`;
  const run = (runId: string) => `${runs}/${encodeURIComponent(runId)}`;
  return {
    events: (runId: string): string => `${run(runId)}/events?logs=true`,
    artifact: (runId: string, artifactId: string): string =>
      `${run(runId)}/artifacts/${encodeURIComponent(artifactId)}/download`,
  };
}
