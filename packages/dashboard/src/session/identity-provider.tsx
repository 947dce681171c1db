import { unwrap } from '@gantry/api-client';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { workerApi } from '../api';

/** Signing in elsewhere, where this installation has an identity provider; until that is known, and where it has none, nothing. */
export function IdentityProvider({ next }: { next: string }) {
  const { data } = useQuery({
    queryKey: ['platform-config'],
    queryFn: async () => unwrap((await workerApi()).GET('/api/system/platform-config')),
  });
  if (!data?.oidc_start_url) return null;
  return (
    <Button
      component="a"
      href={`${data.oidc_start_url}?return_to=${encodeURIComponent(next)}`}
      variant="default"
      size="md"
      fullWidth
    >
      Sign in with {data.oidc_name}
    </Button>
  );
}

const REFUSALS = new Map([
  ['oidc_expired', 'That took too long, or was done already. Start again.'],
  ['oidc_unavailable', 'The identity provider can’t be reached just now. Sign in again in a moment.'],
  [
    'oidc_email_not_verified',
    'The identity provider has not verified your e-mail address. Verify it there, then sign in again.',
  ],
  ['oidc_not_invited', 'Nobody has invited your e-mail address yet. Ask an admin of a workspace for an invitation.'],
  ['oidc_disabled', 'Your account has been disabled. Ask whoever runs this installation.'],
]);

/** Why the identity provider led back here without a session. */
export const refusalText = (code: string): string =>
  REFUSALS.get(code) ?? 'Signing in with the identity provider did not work. Start again.';
