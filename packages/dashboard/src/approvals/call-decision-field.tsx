import { Button, Group, NativeSelect, Stack, Textarea } from '@mantine/core';
import { type ReactNode, type Ref, useId } from 'react';
import { EscapedValue } from '../conversation/escaped-value';
import type { ApprovalCall } from '../shell/api';
import { CallArgumentsForm, type CallArgumentsFormHandle } from './call-arguments-form';

/** `correct`: approved with other arguments. Empty until it is chosen. */
type CallChoice = '' | 'approve' | 'correct' | 'refuse';

export interface CallDraft {
  choice: CallChoice;
  reason: string;
}

interface CallDecisionFieldProps {
  ref: Ref<CallArgumentsFormHandle>;
  call: ApprovalCall;
  /** Unique among the calls of the approval. */
  title: string;
  draft: CallDraft;
  /** The only call of its approval is decided by the buttons below it. */
  isOnly: boolean;
  canCorrect: boolean;
  problem: string | undefined;
  onChange: (draft: CallDraft) => void;
}

const CHOICE_OPTIONS = [
  { value: '', label: 'Choose…' },
  { value: 'approve', label: 'Approve' },
  { value: 'correct', label: 'Approve with changes' },
  { value: 'refuse', label: 'Reject' },
];

/** Shows one tool call with its exact arguments, which an approver can correct. */
export function CallDecisionField({
  ref,
  call,
  title,
  draft,
  isOnly,
  canCorrect,
  problem,
  onChange,
}: CallDecisionFieldProps) {
  const { choice, reason } = draft;
  const headingId = useId();
  const isCorrecting = choice === 'correct';
  const setChoice = (next: CallChoice) => onChange({ ...draft, choice: next });
  const toggle: ReactNode = isOnly && canCorrect && (
    <Button variant="default" size="compact-sm" onClick={() => setChoice(isCorrecting ? '' : 'correct')}>
      {isCorrecting ? 'Keep original arguments' : 'Edit arguments'}
    </Button>
  );
  return (
    <Stack
      component="section"
      gap="sm"
      pb="md"
      style={{ borderBottom: '1px solid var(--line)' }}
      aria-labelledby={headingId}
    >
      <Group gap="8px 12px" justify="space-between">
        <h3 id={headingId}>{title}</h3>
        {toggle}
      </Group>
      {isCorrecting ? <CallArgumentsForm ref={ref} call={call} /> : <EscapedValue value={call.arguments} />}
      {!isOnly && (
        <NativeSelect
          label="Decision"
          aria-label={`Decision for ${title}`}
          value={choice}
          error={problem}
          data={CHOICE_OPTIONS.filter(({ value }) => canCorrect || value !== 'correct')}
          onChange={(event) => setChoice(event.currentTarget.value as CallChoice)}
        />
      )}
      {!isOnly && choice === 'refuse' && (
        <Textarea
          label="Reason for the agent"
          description="The agent receives this reason instead of the tool’s result, then continues."
          rows={2}
          maxLength={2_000}
          value={reason}
          onChange={(event) => onChange({ ...draft, reason: event.currentTarget.value })}
        />
      )}
    </Stack>
  );
}
