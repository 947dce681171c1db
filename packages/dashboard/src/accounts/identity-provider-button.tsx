import { Button } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../shell/api';
import { identityProviderUrl } from '../shell/paths';

export const PLATFORM_CONFIG_QUERY = queryOptions({
  queryKey: ['platform-config'],
  queryFn: () => api.worker.GET('/api/system/platform-config'),
});

/** Links to the identity provider; renders nothing without one, or until that is known. */
export function IdentityProviderButton({ next }: { next: string }) {
  const { data } = useQuery(PLATFORM_CONFIG_QUERY);
  if (!data?.oidc_start_url) return null;
  return (
    <Button component="a" href={identityProviderUrl(data.oidc_start_url, next)} variant="default" size="md" fullWidth>
      Sign in with {data.oidc_name}
    </Button>
  );
}

const ERROR_MESSAGES = new Map([
  ['oidc_expired', 'This sign-in attempt has expired or was already completed. Try signing in again.'],
  ['oidc_unavailable', 'The identity provider can’t be reached. Try again in a moment.'],
  [
    'oidc_email_not_verified',
    'The identity provider has not verified your email address. Verify it there, then sign in again.',
  ],
  ['oidc_not_invited', 'Your email address hasn’t been invited yet. Ask a workspace admin for an invitation.'],
  [
    'oidc_address_unproven',
    'An account with your email address already exists, but the address hasn’t been verified. If the account is yours, sign in with your password and verify the address in your account settings. No password? Use “Forgot your password?” to set one.',
  ],
  [
    'oidc_address_of_another',
    'A different identity provider user has already signed in with your email address. If the account is yours, sign in with your password and verify the address in your account settings.',
  ],
  [
    'oidc_other_address',
    'Your email address at the identity provider doesn’t match this account. Sign in there with the matching address, then try again.',
  ],
  ['oidc_linked_elsewhere', 'This identity provider account is already linked to another account.'],
  ['oidc_disabled', 'Your account has been disabled. Contact the operator of this installation.'],
]);

/** Explains why the identity provider redirected back without a session. */
export const getIdentityProviderErrorMessage = (code: string): string =>
  ERROR_MESSAGES.get(code) ?? 'Sign-in with the identity provider failed. Try again.';
