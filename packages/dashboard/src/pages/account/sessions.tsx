import { unwrap } from '@gantry/sdk';
import { Group } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { account } from '../../shell/api';
import { session } from '../../shell/session';
import { ConfirmButton } from '../../ui/confirm-button';
import { ListItem } from '../../ui/list-item';
import { Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { ResourceList } from '../../ui/resource-list';
import { Timestamp } from '../../ui/timestamp';

const KEY = ['sessions'];

export function Sessions() {
  const queryClient = useQueryClient();
  const sessions = useQuery({ queryKey: KEY, queryFn: () => unwrap(account.GET('/auth/sessions')) });
  const end = useMutation({
    mutationFn: (id: string) =>
      unwrap(account.DELETE('/auth/sessions/{session_id}', { params: { path: { session_id: id } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  const everywhere = useMutation({
    mutationFn: () => unwrap(account.POST('/auth/logout/everywhere', { body: { tokens: false } })),
    onSuccess: () => session.ended(),
  });
  const failure = end.error ?? everywhere.error;
  return (
    <Panel
      title="Where you are signed in"
      aside={
        <Group gap="xs">
          <ConfirmButton
            label="Sign out everywhere"
            question="Sign out everywhere now"
            busy={everywhere.isPending}
            onConfirm={() => everywhere.mutate()}
          >
            Sign out everywhere
          </ConfirmButton>
        </Group>
      }
    >
      <Failure title="Nothing was changed" error={failure} />
      <ResourceList what="The list of sessions" query={sessions} items={sessions.data} height={80}>
        {(shown) => (
          <ul className={styles.list}>
            {shown.map(({ id, user_agent, address, created_at, current }) => (
              <ListItem
                key={id}
                what={`${user_agent ?? 'An unknown browser'}${current ? ' (this one)' : ''}`}
                about={
                  <>
                    {address && `from ${address}, `}since <Timestamp at={Date.parse(created_at)} />
                  </>
                }
              >
                {!current && (
                  <ConfirmButton
                    label={`End the session of ${user_agent ?? 'an unknown browser'}`}
                    question="End it now"
                    busy={end.isPending && end.variables === id}
                    onConfirm={() => end.mutate(id)}
                  >
                    End
                  </ConfirmButton>
                )}
              </ListItem>
            ))}
          </ul>
        )}
      </ResourceList>
    </Panel>
  );
}
