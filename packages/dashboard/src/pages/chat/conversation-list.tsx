import { Box, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { ConversationHead } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { conversationPath, paths } from '../../shell/paths';
import { LoadErrorNotice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';
import styles from './chat-page.module.css';
import { useConversations } from './chat-queries';

interface ConversationListProps {
  openId: string | undefined;
  /** Called when a conversation is opened. */
  onNavigate?: () => void;
}

/** Lists the member's own conversations. */
export function ConversationList({ openId, onNavigate }: ConversationListProps) {
  const list = useConversations();
  const { data: conversations } = list;
  return (
    <nav className={styles.list} aria-label="Conversations">
      <div className={styles.listHead}>
        <Box component="h2" fz="md">
          Conversations
        </Box>
        <LinkButton to={paths.chat} variant="default" size="xs" onClick={onNavigate}>
          New
        </LinkButton>
      </div>
      {list.error && !conversations ? (
        <Box p="12px 16px" fz="sm" c="dimmed">
          <LoadErrorNotice what="The conversations" error={list.error} retry={list.refetch} />
        </Box>
      ) : !conversations ? (
        <Stack gap="xs" p="sm" aria-busy="true">
          {[1, 2, 3, 4].map((place) => (
            <Skeleton key={place} height={48} radius={6} />
          ))}
        </Stack>
      ) : conversations.length === 0 ? (
        <Box component="p" p="12px 16px" fz="sm" c="dimmed">
          No conversations yet. Your conversations are visible only to you.
        </Box>
      ) : (
        <ul className={styles.items}>
          {dedupeById(conversations).map((conversation) => (
            <ConversationItem
              key={conversation.id}
              conversation={conversation}
              isOpen={conversation.id === openId}
              onNavigate={onNavigate}
            />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Box p="12px 16px" fz="sm" c="dimmed">
          <Button
            variant="default"
            size="xs"
            fullWidth
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Show older
          </Button>
        </Box>
      )}
    </nav>
  );
}

/** Removes duplicates: a conversation that moved up between two fetches is on both pages. */
const dedupeById = (conversations: ConversationHead[]): ConversationHead[] => [
  ...new Map(conversations.map((one) => [one.id, one])).values(),
];

const STATUS_LABELS: Partial<Record<ConversationHead['status'], [tone: string, word: string]>> = {
  running: ['running', 'In progress'],
  waiting: ['timeout', 'Needs approval'],
  failed: ['error', 'Failed'],
  interrupted: ['error', 'Interrupted'],
};

interface ConversationItemProps {
  conversation: ConversationHead;
  isOpen: boolean;
  onNavigate: (() => void) | undefined;
}

function ConversationItem({
  conversation: { id, title, status, updated_at: at },
  isOpen,
  onNavigate,
}: ConversationItemProps) {
  const [tone, word] = STATUS_LABELS[status] ?? [];
  return (
    <li>
      <Link
        to={conversationPath(id)}
        className={`${styles.item} list-link`}
        aria-current={isOpen ? 'page' : undefined}
        onClick={onNavigate}
      >
        <Text span fz="sm" fw={600} truncate>
          {title}
        </Text>
        <Group component="span" gap="xs" align="stretch" wrap="nowrap" fz="xs" c="dimmed">
          {word && (
            <Text span fw={600} c="var(--tone)" data-tone={tone}>
              {word}
            </Text>
          )}
          <Timestamp at={Date.parse(at)} />
        </Group>
      </Link>
    </li>
  );
}
