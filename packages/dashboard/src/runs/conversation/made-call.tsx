import { Box, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { deciderName } from '../../approvals/decider-name';
import { CALL_STATUSES, CorrectedTo } from '../../approvals/listed-calls';
import { jsonOf, ToolCall } from '../../conversation/tool-call';
import { toolTitle } from '../../conversation/tool-title';
import { PersonIcon } from '../../ui/icons';
import type { Tone } from '../../ui/status-chip';
import { Timestamp } from '../../ui/timestamp';
import styles from './run-conversation.module.css';
import type { AgentCall } from './said';

type Approval = AgentCall['approvals'][number];

interface MadeCallProps {
  call: AgentCall;
  /** The run has ended. */
  isOver: boolean;
  question: ((approvalId: string) => ReactNode) | null;
}

/** Shows a call of an agent, with the approvals that it requested. */
export function MadeCall({ call, isOver, question }: MadeCallProps) {
  const { name, given, result, approvals } = call;
  const value = jsonOf(given);
  const corrected = findDecision(call)?.arguments;
  const isCut = value === undefined && given !== '';
  const note = (isCut || corrected) && (
    <>
      {isCut && 'Truncated. The transcript has the full call.'}
      {corrected && <CorrectedTo value={corrected} />}
    </>
  );
  return (
    <div>
      <ToolCall
        {...{ title: toolTitle(name, value), name, result }}
        given={value ?? given}
        state={stateOf(call, isOver)}
        note={note}
      />
      {approvals.map((approval) =>
        approval.status === 'pending' ? (
          <Box key={approval.id} p="md" id={questionId(approval.id)}>
            {question?.(approval.id)}
          </Box>
        ) : (
          <Decided key={approval.id} approval={approval} callId={call.id} />
        ),
      )}
    </div>
  );
}

/** Returns the id of the element that holds a pending approval. */
export const questionId = (approvalId: string): string => `question-${approvalId}`;

/** Finds the decision about this call, where calls of its approval were decided one by one. */
const findDecision = ({ id, approvals }: AgentCall) =>
  approvals.flatMap(({ calls }) => calls?.find((one) => one.id === id)?.decision ?? [])[0];

function stateOf(call: AgentCall, isOver: boolean): { tone: Tone; word: string } {
  const { result, failed, approvals } = call;
  const last = approvals.at(-1)?.status;
  if (findDecision(call)?.status === 'refused') return { tone: 'idle', word: 'Refused' };
  if (result !== null) return failed ? { tone: 'error', word: 'Failed' } : { tone: 'success', word: 'Completed' };
  if (last === 'pending') return { tone: 'timeout', word: 'Waiting for approval' };
  if (last === 'rejected' || last === 'expired') return { tone: 'idle', word: 'Not called' };
  return isOver ? { tone: 'idle', word: 'No result' } : { tone: 'running', word: 'Running' };
}

const DECISIONS: Partial<Record<Approval['status'], { word: string; tone: Tone }>> = {
  approved: { word: 'Approved', tone: 'success' },
  rejected: { word: 'Rejected', tone: 'error' },
  expired: { word: 'Expired without a decision', tone: 'idle' },
};

function Decided({ approval, callId }: { approval: Approval; callId: string | null }) {
  const { status, decided_by: by, decided_at: at } = approval;
  const own = approval.calls?.find(({ id }) => id === callId)?.decision;
  const decision = own ? CALL_STATUSES[own.status] : DECISIONS[status];
  const reason = own ? own.reason : approval.reason;
  if (!decision) return null;
  return (
    <Group
      component="p"
      className={`${styles.decided} wrap-anywhere`}
      gap="4px 8px"
      p="8px 12px"
      fz="xs"
      c="dimmed"
      data-tone={decision.tone}
    >
      <PersonIcon />
      <b>{decision.word}</b>
      {by && <span>by {deciderName(by)}</span>}
      {at && <Timestamp at={Date.parse(at)} />}
      {reason && <span>{reason}</span>}
    </Group>
  );
}
