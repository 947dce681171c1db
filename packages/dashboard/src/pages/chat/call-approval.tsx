import { Button } from '@mantine/core';
import { type Ref, useEffect, useRef } from 'react';
import { ExactValue } from '../../conversation/exact-value';
import { type ChatCall, isStatus } from '../../shell/api';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import { Failure, Notice } from '../../ui/notice';
import styles from './call-approval.module.css';
import { summaryId } from './call-words';
import { useDecideCall } from './chat-queries';
import { sayError } from './say-error';

interface CallApprovalProps {
  conversationId: string;
  call: ChatCall;
  /** The agent still does something else: a decision would come too early. */
  isEarly: boolean;
  approveButton?: Ref<HTMLButtonElement> | undefined;
  rejectButton?: Ref<HTMLButtonElement> | undefined;
}

/** A call that changes something or runs code: made with exactly what is shown, once its person says so. */
export function CallApproval({ conversationId, call, isEarly, approveButton, rejectButton }: CallApprovalProps) {
  const decide = useDecideCall(conversationId, call.call_id);
  const titleId = `waits-${call.call_id}`;
  const isDecided = useRef(false);
  // Its buttons are gone with the decision; what became of the call stands in their place.
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
    <section className={styles.approval} aria-labelledby={titleId} data-tone="timeout">
      <div className={styles.head}>
        <p id={titleId} className={styles.title}>
          {call.title}
        </p>
        <p className={styles.about}>
          Waits for you. <code>{call.name}</code> is called with exactly this:
        </p>
      </div>
      <div className={styles.given}>
        {Object.keys(call.arguments).length === 0 ? (
          <p className={styles.about}>No arguments</p>
        ) : (
          <ExactValue value={call.arguments} />
        )}
      </div>
      {isStatus(decide.error, 409) ? (
        <Notice tone="info">This was decided elsewhere, perhaps in another tab.</Notice>
      ) : (
        <Failure title="Nothing was decided" error={sayError(decide.error)} />
      )}
      <div className={styles.actions}>
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
      </div>
    </section>
  );
}
