import { Box, Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { toConnectionError } from '../../conversation/connection-error';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { bindText } from '../../ui/bind';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { FormRow, handleSubmit } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';
import { useDeleteConversation, useRenameConversation } from './chat-queries';
import type { Thread } from './thread';

const TITLE_CHARS_MAX = 120;

/** Renames or deletes a conversation. */
export function ConversationHeader({ thread }: { thread: Thread }) {
  const navigate = useNavigate();
  const [title, setTitle] = useState<string | null>(null);
  const rename = useRenameConversation(thread.id);
  const remove = useDeleteConversation(thread.id);

  function submit() {
    const newTitle = (title ?? '').trim();
    if (newTitle === thread.title) setTitle(null);
    else if (newTitle !== '') rename.mutate(newTitle, { onSuccess: () => setTitle(null) });
  }

  if (title !== null) {
    return (
      <Group gap="8px 16px" align="flex-start" justify="space-between">
        <h1 className="visually-hidden">{thread.title}</h1>
        <FormRow gap="xs" align="stretch" flex={1} onSubmit={handleSubmit(submit)}>
          <TextInput
            aria-label="Conversation name"
            flex="1 1 14rem"
            autoFocus
            autoComplete="off"
            maxLength={TITLE_CHARS_MAX}
            {...bindText(title, setTitle)}
            onKeyDown={(event) => event.key === 'Escape' && setTitle(null)}
          />
          <Button type="submit" loading={rename.isPending} disabled={title.trim() === ''}>
            Save
          </Button>
          <Button variant="default" onClick={() => setTitle(null)}>
            Cancel
          </Button>
        </FormRow>
        <ErrorNotice title="Conversation not renamed" error={toConnectionError(rename.error)} />
      </Group>
    );
  }
  return (
    <Group gap="8px 16px" align="flex-start" justify="space-between">
      <Box component="h1" flex="1 1 14rem" miw={0} pt="0.2rem" fz="1.375rem" lh={1.3} title={thread.title}>
        {thread.title}
      </Box>
      <Group gap="xs" align="stretch">
        <Button variant="default" onClick={() => setTitle(thread.title)}>
          Rename
        </Button>
        <ConfirmButton
          label="Delete conversation"
          question="Delete permanently"
          {...toAction(remove, undefined, {
            onSuccess: () => {
              toast('Conversation deleted');
              void navigate(paths.chat);
            },
          })}
        >
          Delete
        </ConfirmButton>
      </Group>
      <ErrorNotice title="Conversation not deleted" error={toConnectionError(remove.error)} />
    </Group>
  );
}
