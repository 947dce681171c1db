import { Button } from '@mantine/core';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import { conversationPath, paths } from '../../shell/paths';
import { useShortcuts } from '../../shell/shortcuts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import styles from './chat-page.module.css';
import { useConversations } from './chat-queries';
import { ConversationList } from './conversation-list';
import { ConversationView } from './conversation-view';
import { NewConversation } from './new-conversation';

/** Shows the member's conversations with the agent, beside the open one or a new one. */
export default function ChatPage() {
  const { conversationId } = useParams();
  const workspace = useWorkspace();
  if (workspace && !hasRoleAtLeast(workspace.role, 'member')) return <ViewerNotice />;
  return <Chat conversationId={conversationId} />;
}

function Chat({ conversationId }: { conversationId: string | undefined }) {
  const navigate = useNavigate();
  const [isListOpen, setListOpen] = useState(false);
  const { data: conversations = [] } = useConversations();
  const place = conversations.findIndex(({ id }) => id === conversationId);
  const openConversation = (index: number) => {
    const next = conversations[index];
    if (next) void navigate(conversationPath(next.id));
  };
  useShortcuts('Chat', [
    { keys: 'j', description: 'Next conversation', run: () => openConversation(place + 1) },
    { keys: 'k', description: 'Previous conversation', run: () => openConversation(Math.max(0, place - 1)) },
    { keys: 'n', description: 'New conversation', run: () => void navigate(paths.chat) },
  ]);
  return (
    <div className={styles.chat}>
      <div className={styles.side}>
        <ConversationList openId={conversationId} />
      </div>
      <div className={styles.narrowHead}>
        <Button variant="default" size="xs" onClick={() => setListOpen(true)}>
          All conversations
        </Button>
      </div>
      {conversationId === undefined ? <NewConversation /> : <ConversationView id={conversationId} />}
      {isListOpen && (
        <Dialog title="Conversations" bare side onClose={() => setListOpen(false)}>
          <ConversationList openId={conversationId} onNavigate={() => setListOpen(false)} />
        </Dialog>
      )}
    </div>
  );
}

function ViewerNotice() {
  useTitle('Chat');
  return (
    <EmptyState title="Only members can chat with the agent" level={1}>
      <p>
        The agent acts with your permissions, and viewers have read-only access. Ask a workspace admin to make you a
        member.
      </p>
    </EmptyState>
  );
}
