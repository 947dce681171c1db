import { unwrap } from '@gantry/sdk';
import { Group, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { TOOLSETS } from '../../accounts/toolsets';
import { account } from '../../shell/api';
import { ConfirmButton } from '../../ui/confirm-button';
import { Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { ResourceList } from '../../ui/resource-list';
import { RowList, RowNote } from '../../ui/row-list';
import { Timestamp } from '../../ui/timestamp';
import { TOKEN_COLUMNS, TokenFact } from './token-row';

const GRANTS_KEY = ['tokens', 'apps'];

/** Lists the apps that the member has connected to `/mcp`. */
export function ConnectedApps() {
  const queryClient = useQueryClient();
  const grants = useQuery({ queryKey: GRANTS_KEY, queryFn: () => unwrap(account.GET('/auth/oauth/grants')) });
  const revokeGrant = useMutation({
    mutationFn: (grant_id: string) =>
      unwrap(account.DELETE('/auth/oauth/grants/{grant_id}', { params: { path: { grant_id } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: GRANTS_KEY }),
  });
  return (
    <Panel title="Connected apps">
      <p className={styles.text}>Agents that you let in by signing in. Each acts as you in one workspace.</p>
      <Failure title="Nothing was changed" error={revokeGrant.error} />
      <ResourceList
        what="The list of connected apps"
        query={grants}
        items={grants.data}
        height={80}
        empty={<p className={styles.about}>None yet. An agent asks for it when you connect it as above.</p>}
      >
        {(grantList) => (
          <RowList columns={TOKEN_COLUMNS}>
            {grantList.map(({ id, client, workspace, readonly, toolsets, last_used_at, expires_at }) => (
              <li key={id}>
                <Text className="wrap-anywhere" fw={640}>
                  {client.name ?? client.host ?? 'An app without a name'}
                </Text>
                <TokenFact>{workspace.name}</TokenFact>
                <TokenFact>
                  Signed in <Timestamp at={Date.parse(last_used_at)} />
                </TokenFact>
                <TokenFact>
                  Ends <Timestamp at={Date.parse(expires_at)} />
                </TokenFact>
                <RowNote>
                  {[
                    client.host ?? 'not verified',
                    ...(readonly ? ['Only reads'] : []),
                    `Tools: ${toolsets.map((one) => TOOLSETS[one].toLowerCase()).join(', ')}`,
                  ].join(' · ')}
                </RowNote>
                <Group gap="xs">
                  <ConfirmButton
                    label={`Disconnect ${client.name ?? client.host ?? 'the app'}`}
                    question="Disconnect now"
                    busy={revokeGrant.isPending && revokeGrant.variables === id}
                    onConfirm={() => revokeGrant.mutate(id)}
                  >
                    Disconnect
                  </ConfirmButton>
                </Group>
              </li>
            ))}
          </RowList>
        )}
      </ResourceList>
    </Panel>
  );
}
