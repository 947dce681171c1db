import { Box, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { Composer } from '../../conversation/composer';
import { toConnectionError } from '../../conversation/connection-error';
import { createIdempotencyKeyProvider } from '../../conversation/idempotency-key';
import { OutputJson } from '../../outputs/output-json';
import { isRunFinished } from '../../runs/worker-runs';
import { api, hasErrorStatus, type Worker, type WorkerConversation, type WorkerTurn } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { workerPath } from '../../shell/paths';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { WorkerLayout } from '../../workers/worker-layout';
import { useConversation, useDeleteConversation, useSendMessage } from './conversation-queries';
import { renderReadOnlyNotice } from './read-only-notice';
import { Turn } from './turn';

/** Shows one conversation with an agent worker. */
export default function ConversationPage() {
  const { conversationId = '' } = useParams();
  return (
    <WorkerLayout tab="Conversation">
      {(worker) => <LoadedConversation key={conversationId} worker={worker} id={conversationId} />}
    </WorkerLayout>
  );
}

function LoadedConversation({ worker, id }: { worker: Worker; id: string }) {
  const query = useConversation(worker.id, id);
  const [newest] = query.data?.pages ?? [];
  if (hasErrorStatus(query.error, 404)) return <NotFound what="conversation" />;
  if (query.error && !newest) {
    return <LoadErrorNotice what="The conversation" error={query.error} retry={query.refetch} />;
  }
  if (!newest) return <Skeleton height={320} radius={10} />;
  return <ConversationThread worker={worker} query={query} newest={newest} />;
}

interface ConversationThreadProps {
  worker: Worker;
  query: ReturnType<typeof useConversation>;
  newest: WorkerConversation;
}

function ConversationThread({ worker, query, newest }: ConversationThreadProps) {
  const endMarker = useRef<HTMLDivElement>(null);
  const turns = query.data?.pages.toReversed().flatMap((page) => page.turns) ?? [];
  const lastNumber = turns.at(-1)?.number;
  // Scrolls to the newest message.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each message, and only then.
  useEffect(() => {
    endMarker.current?.scrollIntoView({ block: 'end' });
  }, [lastNumber]);
  return (
    <section aria-label={newest.title}>
      <Stack gap="lg" maw="52rem">
        <ConversationHeader worker={worker} conversation={newest} />
        {query.hasNextPage && (
          <Button
            variant="default"
            mx="auto"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            Show earlier messages
          </Button>
        )}
        <Stack component="ol" gap="xl">
          {turns.map((turn, place) => (
            <Turn key={turn.run_id} turn={turn} isLast={place === turns.length - 1} />
          ))}
        </Stack>
        {renderReadOnlyNotice(worker) ?? <MessageComposer worker={worker} id={newest.id} last={turns.at(-1)} />}
        <div ref={endMarker} />
      </Stack>
    </section>
  );
}

function ConversationHeader({ worker, conversation }: { worker: Worker; conversation: WorkerConversation }) {
  const navigate = useNavigate();
  const remove = useDeleteConversation(worker.id, conversation.id);
  const list = workerPath(worker.id, 'workerConversations');
  return (
    <Stack gap="xs">
      <Link to={list}>All conversations</Link>
      <Group justify="space-between" align="flex-start" gap="md">
        <Box component="h2" className="wrap-anywhere" flex="1 1 14rem" miw={0}>
          {conversation.title}
        </Box>
        {conversation.permissions.delete && (
          <Group gap="xs">
            <ConfirmButton
              label="Delete conversation"
              question="Delete conversation, keep runs"
              {...toAction(remove, undefined, { onSuccess: () => void navigate(list, { replace: true }) })}
            >
              Delete
            </ConfirmButton>
          </Group>
        )}
      </Group>
      <ErrorNotice title="Conversation not deleted" error={toConnectionError(remove.error)} />
      {Object.keys(conversation.inputs).length > 0 && (
        <details>
          <summary>Inputs for each run</summary>
          <OutputJson value={conversation.inputs} />
        </details>
      )}
    </Stack>
  );
}

function MessageComposer({ worker, id, last }: { worker: Worker; id: string; last: WorkerTurn | undefined }) {
  const [text, setText] = useState('');
  const [getMessageKey] = useState(createIdempotencyKeyProvider);
  const send = useSendMessage(worker.id, id);
  const cancel = useMutation({
    mutationFn: (id: string) => api.worker.POST('/api/runs/{run_id}/cancel', { params: { path: { run_id: id } } }),
  });
  const runId = last && !isRunFinished(last) ? last.run_id : null;

  return (
    <>
      <Text className="visually-hidden" role="status">
        {last && STATUS_ANNOUNCEMENTS[last.status]}
      </Text>
      <Composer
        text={text}
        onText={setText}
        isSending={send.isPending}
        onSend={() =>
          send.mutate(
            { text, key: getMessageKey(text, send.error) },
            { onSuccess: () => setText((current) => (current === text ? '' : current)) },
          )
        }
        blocked={runId === null ? undefined : 'The agent is working'}
        stop={runId === null ? undefined : { isStopping: cancel.isPending, run: () => cancel.mutate(runId) }}
        placeholder={`Message ${worker.name}`}
        banner={
          <>
            <ErrorNotice title="Run not cancelled" error={toConnectionError(cancel.error)} />
            <ErrorNotice title="Message not sent" error={toConnectionError(send.error)} />
          </>
        }
      />
    </>
  );
}

const STATUS_ANNOUNCEMENTS: Record<WorkerTurn['status'], string> = {
  queued: 'The agent is starting.',
  running: 'The agent is working.',
  pending_approval: 'The agent is waiting for a decision.',
  completed: 'The agent answered.',
  failed: 'The agent could not answer.',
  cancelled: 'The run was cancelled.',
  timed_out: 'The agent took too long.',
  rejected: 'The run was rejected.',
};
