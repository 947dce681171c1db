import { Button, Group, Skeleton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { getIdentityProviderErrorMessage, PLATFORM_CONFIG_QUERY } from '../../accounts/identity-provider-button';
import { api } from '../../shell/api';
import { identityProviderUrl, paths } from '../../shell/paths';
import { useMe } from '../../shell/use-me';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

/** Shows whether the address is verified, and offers to verify it. */
export function EmailAddress() {
  const { data: me } = useMe();
  const [params] = useSearchParams();
  const error = params.get('error');
  return (
    <Panel title="Email address">
      {error && (
        <Notice tone="error" title="Email address not verified">
          {getIdentityProviderErrorMessage(error)}
        </Notice>
      )}
      {!me ? (
        <Skeleton height={48} />
      ) : me.email_verified ? (
        <p className="panel-text">{me.email} is verified. You can see everything shared with this address.</p>
      ) : (
        <>
          <p className="panel-text">
            {me.email} is not verified. Your role’s permissions work as usual, but you can’t see anything shared with
            this address until you verify it.
          </p>
          <VerificationOptions />
        </>
      )}
    </Panel>
  );
}

function VerificationOptions() {
  const config = useQuery(PLATFORM_CONFIG_QUERY);
  const send = useMutation({ mutationFn: () => api.account.POST('/auth/email/verification') });
  if (!config.data) return <Skeleton height={48} />;
  const { password_reset, oidc_start_url, oidc_name } = config.data;
  const sendsEmail = password_reset === 'email';
  if (!sendsEmail && !oidc_start_url) {
    return (
      <p className="panel-text">
        This address can’t be verified because neither email nor an identity provider is set up on this installation.
        Ask the operator to set one up.
      </p>
    );
  }
  return (
    <>
      <ErrorNotice title="Link not sent" error={send.error} />
      <div role="status">
        {send.data && (
          <Notice tone="info">We sent a link to {send.data.email}. Open it in this browser within 24 hours.</Notice>
        )}
      </div>
      <Group gap="xs">
        {sendsEmail && (
          <Button loading={send.isPending} onClick={() => send.mutate()}>
            Send verification link
          </Button>
        )}
        {oidc_start_url && (
          <Button
            component="a"
            variant="default"
            href={identityProviderUrl(oidc_start_url, paths.account, { prove: true })}
          >
            Verify with {oidc_name}
          </Button>
        )}
      </Group>
    </>
  );
}
