import { unwrap } from '@gantry/api-client';
import { Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { TOOLSETS } from '../../accounts/toolsets';
import { account } from '../../shell/api';
import { ConfirmButton } from '../../ui/confirm-button';
import { FailedToLoad, Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { Timestamp } from '../../ui/timestamp';
import row from './token-row.module.css';

const KEY = ['tokens', 'apps'];

/** The apps that this person connected to `/mcp`. */
export function ConnectedApps() {
  const queryClient = useQueryClient();
  const grants = useQuery({ queryKey: KEY, queryFn: () => unwrap(account.GET('/auth/oauth/grants')) });
  const end = useMutation({
    mutationFn: (grant_id: string) =>
      unwrap(account.DELETE('/auth/oauth/grants/{grant_id}', { params: { path: { grant_id } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Panel title="Connected apps">
      <p className={styles.text}>Agents that you let in by signing in. Each acts as you in one workspace.</p>
      <Failure title="Nothing was changed" error={end.error} />
      {grants.isError ? (
        <FailedToLoad what="The list of connected apps" error={grants.error} retry={grants.refetch} />
      ) : !grants.data ? (
        <Skeleton height={80} />
      ) : grants.data.length === 0 ? (
        <p className={styles.about}>None yet. An agent asks for it when you connect it as above.</p>
      ) : (
        <ul className={row.list}>
          {grants.data.map(({ id, client, workspace, readonly, toolsets, last_used_at, expires_at }) => (
            <li key={id} className={row.token}>
              <p className={styles.what}>{client.name ?? client.host ?? 'An app without a name'}</p>
              <p className={row.fact}>{workspace.name}</p>
              <p className={row.fact}>
                Signed in <Timestamp at={Date.parse(last_used_at)} />
              </p>
              <p className={row.fact}>
                Ends <Timestamp at={Date.parse(expires_at)} />
              </p>
              <p className={row.rules}>
                {[
                  client.host ?? 'not verified',
                  ...(readonly ? ['Only reads'] : []),
                  `Tools: ${toolsets.map((one) => TOOLSETS[one].toLowerCase()).join(', ')}`,
                ].join(' · ')}
              </p>
              <div className={styles.actions}>
                <ConfirmButton
                  label={`Disconnect ${client.name ?? client.host ?? 'the app'}`}
                  question="Disconnect now"
                  busy={end.isPending && end.variables === id}
                  onConfirm={() => end.mutate(id)}
                >
                  Disconnect
                </ConfirmButton>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
