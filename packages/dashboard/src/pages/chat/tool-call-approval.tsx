import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { type Ref, useEffect, useRef } from 'react';
import { toConnectionError } from '../../conversation/connection-error';
import { EscapedValue } from '../../conversation/escaped-value';
import { type ChatCall, hasErrorStatus } from '../../shell/api';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import { ErrorNotice, Notice } from '../../ui/notice';
import { getCallSummaryId } from './call-state';
import { useDecideCall } from './chat-queries';
import styles from './tool-call-approval.module.css';

interface ToolCallApprovalProps {
  conversationId: string;
  call: ChatCall;
  /** The agent is still busy with another call: a decision would come too early. */
  isTurnRunning: boolean;
  approveButton?: Ref<HTMLButtonElement> | undefined;
  rejectButton?: Ref<HTMLButtonElement> | undefined;
}

/** Asks for approval of a call that changes something or runs code, with exactly the arguments shown. */
export function ToolCallApproval({
  conversationId,
  call,
  isTurnRunning,
  approveButton,
  rejectButton,
}: ToolCallApprovalProps) {
  const decide = useDecideCall(conversationId, call.call_id);
  const titleId = `waits-${call.call_id}`;
  const isDecided = useRef(false);
  // The decision removes the buttons, so the focus moves to the line of the call.
  useEffect(
    () => () => {
      if (isDecided.current) setTimeout(() => document.getElementById(getCallSummaryId(call.call_id))?.focus());
    },
    [call.call_id],
  );

  const buildButtonProps = (approve: boolean) => ({
    loading: decide.isPending && decide.variables === approve,
    disabled: isTurnRunning || (decide.isPending && decide.variables !== approve),
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
          Waiting for your approval. <code>{call.name}</code> will be called with these exact arguments:
        </Text>
      </Stack>
      <Box className={styles.given} p="sm" bd="1px solid var(--line)" bdrs={6} bg="var(--sunken)">
        {Object.keys(call.arguments).length === 0 ? (
          <Text className="wrap-anywhere" fz="sm" c="dimmed">
            No arguments
          </Text>
        ) : (
          <EscapedValue value={call.arguments} />
        )}
      </Box>
      {hasErrorStatus(decide.error, 409) ? (
        <Notice tone="info">This call was already approved or rejected, possibly in another tab.</Notice>
      ) : (
        <ErrorNotice title="Decision not saved" error={toConnectionError(decide.error)} />
      )}
      <Group className={styles.actions} gap="sm" align="stretch">
        <Button ref={approveButton} leftSection={<CheckIcon />} {...buildButtonProps(true)}>
          Approve
        </Button>
        <Button
          ref={rejectButton}
          variant="default"
          className={styles.reject}
          leftSection={<CrossIcon />}
          {...buildButtonProps(false)}
        >
          Reject
        </Button>
      </Group>
    </Stack>
  );
}
