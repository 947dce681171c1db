import { Button, Skeleton, Stack } from '@mantine/core';
import { useRef } from 'react';
import { Composer } from '../../conversation/composer';
import { sayError } from '../../conversation/say-error';
import { NoModel } from '../../models/no-model';
import { useModels } from '../../models/use-models';
import { isStatus } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { useShortcuts } from '../../shell/keys';
import { useTitle } from '../../shell/use-title';
import { FailedToLoad, Failure, Notice } from '../../ui/notice';
import styles from './chat-page.module.css';
import { useEarlier, useStop, useThread } from './chat-queries';
import { ConversationHead } from './conversation-head';
import { SendProblem } from './send-problem';
import type { Thread } from './thread';
import { ToEnd } from './to-end';
import { Turn } from './turn';
import { useComposer } from './use-composer';
import { useLiveThread } from './use-live-thread';

export function OpenConversation({ id }: { id: string }) {
  const { data: thread, error, refetch } = useThread(id);
  useTitle(thread?.title);
  const { isInterrupted } = useLiveThread(thread);
  if (isStatus(error, 404)) return <NotFound what="conversation" />;
  if (error && !thread) return <FailedToLoad what="The conversation" error={error} retry={refetch} />;
  if (!thread) return <Loading />;
  return <ThreadView thread={thread} isInterrupted={isInterrupted} />;
}

const BLOCKED: Partial<Record<Thread['status'], string>> = {
  running: 'The agent is at work',
  waiting: 'Decide what waits above, or stop',
};

function ThreadView({ thread, isInterrupted }: { thread: Thread; isInterrupted: boolean }) {
  const composer = useComposer(thread.id);
  const stop = useStop(thread.id);
  const models = useModels();
  const approveButton = useRef<HTMLButtonElement>(null);
  const rejectButton = useRef<HTMLButtonElement>(null);
  const blocked = BLOCKED[thread.status];
  const isMute = models.data?.length === 0 && !blocked;
  useShortcuts('Conversation', [
    { keys: 'm', words: 'Write a message', run: () => composer.field.current?.focus() },
    { keys: 'a', words: 'Approve what waits; Enter confirms', run: () => approveButton.current?.focus() },
    { keys: 'r', words: 'Reject what waits; Enter confirms', run: () => rejectButton.current?.focus() },
    { keys: 'x', words: 'Stop the agent', run: () => blocked && stop.mutate() },
  ]);
  const last = thread.turns.length - 1;
  return (
    <section className={styles.thread} aria-label="Conversation">
      <ConversationHead thread={thread} />
      <h2 className="visually-hidden">Messages</h2>
      {thread.hasEarlier && <Earlier thread={thread} />}
      <Stack component="ol" gap="xl">
        {thread.turns.map((turn, place) => (
          <Turn
            key={turn.id}
            conversationId={thread.id}
            turn={turn}
            durations={thread.durations}
            cost={thread.costs[turn.id]}
            send={place === last && !composer.isSending && !isMute ? composer.sendText : undefined}
            approveButton={approveButton}
            rejectButton={rejectButton}
          />
        ))}
      </Stack>
      <p className="visually-hidden" role="status">
        {SAID[thread.status]}
      </p>
      {isMute ? (
        <NoModel level={3} />
      ) : (
        <Composer
          {...composer.props}
          blocked={blocked}
          stop={blocked ? { isStopping: stop.isPending, run: () => stop.mutate() } : undefined}
          news={
            <>
              <ToEnd thread={thread} />
              {isInterrupted && (
                <Notice tone="info">The connection is lost. The agent works on, and this page catches up.</Notice>
              )}
              <Failure title="The agent was not stopped" error={sayError(stop.error)} />
              <SendProblem error={composer.error} />
            </>
          }
        />
      )}
    </section>
  );
}

/** Announced to screen readers, because the answer itself streams in fragments. */
const SAID: Record<Thread['status'], string> = {
  running: 'The agent is at work.',
  waiting: 'The agent waits for your decision.',
  completed: 'The agent has answered.',
  failed: 'The agent could not answer.',
  stopped: 'The agent is stopped.',
  interrupted: 'The agent was interrupted.',
};

function Earlier({ thread }: { thread: Thread }) {
  const earlier = useEarlier(thread);
  return (
    <Stack gap="sm" align="center">
      <Button variant="default" loading={earlier.isPending} onClick={() => earlier.mutate()}>
        Show earlier messages
      </Button>
      <Failure title="They could not be loaded" error={sayError(earlier.error)} />
    </Stack>
  );
}

function Loading() {
  return (
    <div className={styles.thread} aria-busy="true">
      <p className="visually-hidden" role="status">
        Loading the conversation
      </p>
      <Skeleton height={32} width="min(100%, 22rem)" />
      <Stack gap="xl" pb="md">
        <Skeleton height={44} width="min(70%, 20rem)" ml="auto" radius={12} />
        <Skeleton height={120} radius={8} />
        <Skeleton height={44} width="min(60%, 16rem)" ml="auto" radius={12} />
        <Skeleton height={80} radius={8} />
      </Stack>
    </div>
  );
}
