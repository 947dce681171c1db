import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { type Ref, useEffect, useRef } from 'react';
import { ExactValue } from '../../conversation/exact-value';
import { sayError } from '../../conversation/say-error';
import { type ChatCall, isStatus } from '../../shell/api';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import { Failure, Notice } from '../../ui/notice';
import styles from './call-approval.module.css';
import { summaryId } from './call-words';
import { useDecideCall } from './chat-queries';

interface CallApprovalProps {
  conversationId: string;
  call: ChatCall;
  /** The agent is still busy with another call: a decision would come too early. */
  isEarly: boolean;
  approveButton?: Ref<HTMLButtonElement> | undefined;
  rejectButton?: Ref<HTMLButtonElement> | undefined;
}

/** Asks for approval of a call that changes something or runs code, with exactly the arguments shown. */
export function CallApproval({ conversationId, call, isEarly, approveButton, rejectButton }: CallApprovalProps) {
  const decide = useDecideCall(conversationId, call.call_id);
  const titleId = `waits-${call.call_id}`;
  const isDecided = useRef(false);
  // The decision removes the buttons, so the focus moves to the line of the call.
  useEffect(
    () => () => {
      if (isDecided.current) setTimeout(() => document.getElementById(summaryId(call.call_id))?.focus());
    },
    [call.call_id],
  );

  const button = (approve: boolean) => ({
    loading: decide.isPending && decide.variables === approve,
    disabled: isEarly || (decide.isPending && decide.variables !== approve),
    onClick: () =>
      decide.mutate(approve, {
        onSuccess: () => {
          isDecided.current = true;
        },
      }),
  });

  return (
    <Stack
      component="section"
      gap="sm"
      p="md"
      bg="var(--surface)"
      style={{ borderInlineStart: '3px solid var(--tone)' }}
      aria-labelledby={titleId}
      data-tone="timeout"
    >
      <Stack gap={2}>
        <Text id={titleId} className="wrap-anywhere" fw={640}>
          {call.title}
        </Text>
        <Text className="wrap-anywhere" fz="sm" c="dimmed">
          Waits for you. <code>{call.name}</code> is called with exactly this:
        </Text>
      </Stack>
      <Box className={styles.given} p="sm" bd="1px solid var(--line)" bdrs={6} bg="var(--sunken)">
        {Object.keys(call.arguments).length === 0 ? (
          <Text className="wrap-anywhere" fz="sm" c="dimmed">
            No arguments
          </Text>
        ) : (
          <ExactValue value={call.arguments} />
        )}
      </Box>
      {isStatus(decide.error, 409) ? (
        <Notice tone="info">This was decided elsewhere, perhaps in another tab.</Notice>
      ) : (
        <Failure title="The decision was not saved" error={sayError(decide.error)} />
      )}
      <Group className={styles.actions} gap="sm" align="stretch">
        <Button ref={approveButton} leftSection={<CheckIcon />} {...button(true)}>
          Approve
        </Button>
        <Button
          ref={rejectButton}
          variant="default"
          className={styles.reject}
          leftSection={<CrossIcon />}
          {...button(false)}
        >
          Reject
        </Button>
      </Group>
    </Stack>
  );
}
