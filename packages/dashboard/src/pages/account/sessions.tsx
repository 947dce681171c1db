import { Group } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../shell/api';
import { session } from '../../shell/session';
import { buildRowActionProps, ConfirmButton, toAction } from '../../ui/confirm-button';
import { ListItem } from '../../ui/list-item';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { ResourceList } from '../../ui/resource-list';
import { Timestamp } from '../../ui/timestamp';

const SESSIONS_KEY = ['sessions'];

export function Sessions() {
  const queryClient = useQueryClient();
  const sessions = useQuery({ queryKey: SESSIONS_KEY, queryFn: () => api.account.GET('/auth/sessions') });
  const endSession = useMutation({
    mutationFn: (id: string) =>
      api.account.DELETE('/auth/sessions/{session_id}', { params: { path: { session_id: id } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: SESSIONS_KEY }),
  });
  const endAllSessions = useMutation({
    mutationFn: () => api.account.POST('/auth/logout/everywhere', { body: { tokens: false } }),
    onSuccess: () => session.handleSessionEnd(),
  });
  const failure = endSession.error ?? endAllSessions.error;
  return (
    <Panel
      title="Active sessions"
      aside={
        <Group gap="xs">
          <ConfirmButton label="Sign out everywhere" question="Sign out now" {...toAction(endAllSessions)}>
            Sign out everywhere
          </ConfirmButton>
        </Group>
      }
    >
      <ErrorNotice title="Session not ended" error={failure} />
      <ResourceList what="Your sessions" query={sessions} items={sessions.data} height={80}>
        {(sessionList) => (
          <ul className="panel-list divided rows">
            {sessionList.map(({ id, user_agent, address, created_at, current }) => (
              <ListItem
                key={id}
                title={`${user_agent ?? 'Unknown browser'}${current ? ' (this browser)' : ''}`}
                about={
                  <>
                    Signed in {address && `from ${address}, `}
                    <Timestamp at={Date.parse(created_at)} />
                  </>
                }
              >
                {!current && (
                  <ConfirmButton
                    label={`End session on ${user_agent ?? 'an unknown browser'}`}
                    question="End now"
                    {...buildRowActionProps(endSession, id)}
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
