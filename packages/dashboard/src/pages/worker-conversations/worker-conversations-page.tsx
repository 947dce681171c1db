import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { Composer } from '../../conversation/composer';
import { toConnectionError } from '../../conversation/connection-error';
import { createIdempotencyKeyProvider } from '../../conversation/idempotency-key';
import { toInputProblems } from '../../inputs/input-problems';
import { useInputFields } from '../../inputs/use-input-fields';
import type { InputItem, Worker } from '../../shell/api';
import { workerConversationPath } from '../../shell/paths';
import { EmptyState } from '../../ui/empty-state';
import link from '../../ui/link-row.module.css';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { ResourceList } from '../../ui/resource-list';
import { Timestamp } from '../../ui/timestamp';
import { useMemberNames } from '../../workers/use-member-names';
import { WorkerLayout } from '../../workers/worker-layout';
import { useConversations, useStartConversation } from './conversation-queries';
import { MESSAGE_INPUT, renderReadOnlyNotice } from './read-only-notice';

/** Lists the conversations with an agent worker, and starts another. */
export default function WorkerConversationsPage() {
  return (
    <WorkerLayout tab="Conversation">
      {(worker) => (
        <Stack gap="xl" maw="52rem">
          {renderReadOnlyNotice(worker) ?? <NewConversation key={worker.id} worker={worker} />}
          <ConversationListPanel worker={worker} />
        </Stack>
      )}
    </WorkerLayout>
  );
}

function NewConversation({ worker }: { worker: Worker }) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [getMessageKey] = useState(createIdempotencyKeyProvider);
  const items = (worker.inputs as InputItem[]).filter(({ name }) => name !== MESSAGE_INPUT);
  const { fields, problem, show: showProblems, read: readInputs } = useInputFields(items, null);
  const startConversation = useStartConversation(worker.id);

  function send() {
    const { inputs, problems } = readInputs();
    showProblems(problems);
    if (problems.size) return;
    startConversation.mutate(
      { text, inputs, key: getMessageKey(text, startConversation.error) },
      {
        onSuccess: ({ id }) => void navigate(workerConversationPath(worker.id, id)),
        onError: (error) => items.length > 0 && showProblems(toInputProblems(error, items)),
      },
    );
  }

  return (
    <section aria-label="New conversation">
      <Stack gap="md">
        <Text c="dimmed">
          Each message starts a run of {worker.name} with the earlier messages as context. Everyone with access to the
          worker’s runs can read these conversations.
        </Text>
        {fields}
        <Composer
          text={text}
          onText={setText}
          onSend={send}
          isSending={startConversation.isPending}
          placeholder={`Message ${worker.name}`}
          banner={
            items.length === 0 ? (
              <ErrorNotice title="Message not sent" error={toConnectionError(startConversation.error)} />
            ) : (
              problem !== undefined && (
                <Notice tone="error" title="Message not sent">
                  {problem}
                </Notice>
              )
            )
          }
        />
      </Stack>
    </section>
  );
}

function ConversationListPanel({ worker }: { worker: Worker }) {
  const query = useConversations(worker.id);
  const names = useMemberNames();
  return (
    <Panel title="Conversations">
      <ResourceList
        what="The conversations"
        query={query}
        items={query.data}
        empty={
          <EmptyState title="No conversations yet">
            <p>Conversations with this agent appear here.</p>
          </EmptyState>
        }
      >
        {(conversations) => (
          <ul className="panel-list divided rows" aria-label="Conversations">
            {conversations.map(({ id, title, created_by: by, updated_at: at }) => (
              <li key={id} className={link.row}>
                <Link to={workerConversationPath(worker.id, id)} className={`${link.link} stretched-link`}>
                  {title}
                </Link>
                <Text fz="xs" c="dimmed">
                  {by !== null && names?.get(by) && `${names.get(by)} · `}
                  <Timestamp at={Date.parse(at)} />
                </Text>
              </li>
            ))}
          </ul>
        )}
      </ResourceList>
    </Panel>
  );
}
