import { Box, Stack, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { ApprovalStatusChip } from '../../approvals/approval-status';
import { formatDecider } from '../../approvals/format-decider';
import type { Review } from '../../shell/api';
import { Timestamp } from '../../ui/timestamp';

const OUTCOME_DESCRIPTIONS: Record<Exclude<Review['status'], 'pending'>, string> = {
  approved: 'The run is continuing.',
  rejected: 'The run has ended.',
  expired: 'The run has ended without a decision.',
};

type ReviewOutcomeProps = Pick<Review, 'status' | 'decided_by' | 'decided_at' | 'reason'> & {
  /** Just decided here: the focus then moves to the outcome. */
  isNew: boolean;
};

/** Shows the decision on an approval, or that it has expired. */
export function ReviewOutcome({ status, decided_by, decided_at, reason, isNew }: ReviewOutcomeProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isNew) box.current?.focus();
  }, [isNew]);
  if (status === 'pending') return null;
  return (
    <Stack
      ref={box}
      className="wrap-anywhere"
      gap="sm"
      align="flex-start"
      style={{ outline: 'none' }}
      tabIndex={-1}
      role="status"
    >
      <ApprovalStatusChip status={status} />
      <p>
        {decided_by && (
          <>
            By <strong>{formatDecider(decided_by)}</strong>,{' '}
          </>
        )}
        {decided_at && <Timestamp at={Date.parse(decided_at)} />}
      </p>
      {reason && (
        <Box component="p" className="pre-wrap" pl="sm" style={{ borderLeft: '3px solid var(--line-strong)' }}>
          {reason}
        </Box>
      )}
      <Text c="dimmed">{OUTCOME_DESCRIPTIONS[status]}</Text>
    </Stack>
  );
}
