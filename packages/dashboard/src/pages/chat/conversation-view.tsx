import { Button, Skeleton, Stack } from '@mantine/core';
import { useRef } from 'react';
import { Composer } from '../../conversation/composer';
import { toConnectionError } from '../../conversation/connection-error';
import { MissingModelState } from '../../models/missing-model-state';
import { useModels } from '../../models/use-models';
import { hasErrorStatus } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { useShortcuts } from '../../shell/shortcuts';
import { useTitle } from '../../shell/use-title';
import { ErrorNotice, LoadErrorNotice, Notice } from '../../ui/notice';
import styles from './chat-page.module.css';
import { useLoadEarlierMessages, useStopConversation, useThread } from './chat-queries';
import { ConversationHeader } from './conversation-header';
import { ScrollToEndButton } from './scroll-to-end-button';
import { SendError } from './send-error';
import type { Thread } from './thread';
import { Turn } from './turn';
import { useComposer } from './use-composer';
import { useLiveThread } from './use-live-thread';

export function ConversationView({ id }: { id: string }) {
  const { data: thread, error, refetch } = useThread(id);
  useTitle(thread?.title);
  const { isInterrupted } = useLiveThread(thread);
  if (hasErrorStatus(error, 404)) return <NotFound what="conversation" />;
  if (error && !thread) return <LoadErrorNotice what="The conversation" error={error} retry={refetch} />;
  if (!thread) return <LoadingConversation />;
  return <ThreadView thread={thread} isInterrupted={isInterrupted} />;
}

const BLOCKED_REASONS: Partial<Record<Thread['status'], string>> = {
  running: 'The agent is working',
  waiting: 'Respond to the request above or stop the agent',
};

function ThreadView({ thread, isInterrupted }: { thread: Thread; isInterrupted: boolean }) {
  const composer = useComposer(thread.id);
  const stop = useStopConversation(thread.id);
  const models = useModels();
  const approveButton = useRef<HTMLButtonElement>(null);
  const rejectButton = useRef<HTMLButtonElement>(null);
  const blocked = BLOCKED_REASONS[thread.status];
  const hasNoModel = models.data?.length === 0 && !blocked;
  useShortcuts('Conversation', [
    { keys: 'm', description: 'Write a message', run: () => composer.field.current?.focus() },
    {
      keys: 'a',
      description: 'Approve the request (press Enter to confirm)',
      run: () => approveButton.current?.focus(),
    },
    { keys: 'r', description: 'Reject the request (press Enter to confirm)', run: () => rejectButton.current?.focus() },
    { keys: 'x', description: 'Stop the agent', run: () => blocked && stop.mutate() },
  ]);
  const last = thread.turns.length - 1;
  return (
    <Stack component="section" className={styles.thread} gap="lg" w="100%" miw={0} aria-label="Conversation">
      <ConversationHeader thread={thread} />
      <h2 className="visually-hidden">Messages</h2>
      {thread.hasEarlier && <EarlierMessages thread={thread} />}
      <Stack component="ol" gap="xl">
        {thread.turns.map((turn, place) => (
          <Turn
            key={turn.id}
            conversationId={thread.id}
            turn={turn}
            durations={thread.durations}
            cost={thread.costs[turn.id]}
            send={place === last && !composer.isSending && !hasNoModel ? composer.sendText : undefined}
            approveButton={approveButton}
            rejectButton={rejectButton}
          />
        ))}
      </Stack>
      <p className="visually-hidden" role="status">
        {STATUS_ANNOUNCEMENTS[thread.status]}
      </p>
      {hasNoModel ? (
        <MissingModelState level={3} />
      ) : (
        <Composer
          {...composer.props}
          blocked={blocked}
          stop={blocked ? { isStopping: stop.isPending, run: () => stop.mutate() } : undefined}
          banner={
            <>
              <ScrollToEndButton thread={thread} />
              {isInterrupted && (
                <Notice tone="info">
                  Connection lost. The agent is still working, and this page will update once you’re reconnected.
                </Notice>
              )}
              <ErrorNotice title="Agent not stopped" error={toConnectionError(stop.error)} />
              <SendError error={composer.error} />
            </>
          }
        />
      )}
    </Stack>
  );
}

/** Announced to screen readers, because the answer itself streams in fragments. */
const STATUS_ANNOUNCEMENTS: Record<Thread['status'], string> = {
  running: 'The agent is working.',
  waiting: 'The agent is waiting for your decision.',
  completed: 'The agent has responded.',
  failed: 'The agent couldn’t respond.',
  stopped: 'The agent was stopped.',
  interrupted: 'The agent was interrupted.',
};

function EarlierMessages({ thread }: { thread: Thread }) {
  const earlier = useLoadEarlierMessages(thread);
  return (
    <Stack gap="sm" align="center">
      <Button variant="default" loading={earlier.isPending} onClick={() => earlier.mutate()}>
        Show earlier messages
      </Button>
      <ErrorNotice title="Messages could not be loaded" error={toConnectionError(earlier.error)} />
    </Stack>
  );
}

function LoadingConversation() {
  return (
    <Stack className={styles.thread} gap="lg" w="100%" miw={0} aria-busy="true">
      <p className="visually-hidden" role="status">
        Loading conversation…
      </p>
      <Skeleton height={32} width="min(100%, 22rem)" />
      <Stack gap="xl" pb="md">
        <Skeleton height={44} width="min(70%, 20rem)" ml="auto" radius={12} />
        <Skeleton height={120} radius={8} />
        <Skeleton height={44} width="min(60%, 16rem)" ml="auto" radius={12} />
        <Skeleton height={80} radius={8} />
      </Stack>
    </Stack>
  );
}
