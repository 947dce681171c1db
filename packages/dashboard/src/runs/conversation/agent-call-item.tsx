import { Box, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatDecider } from '../../approvals/format-decider';
import { CALL_STATUSES, CorrectedArgumentsView } from '../../approvals/tool-call-list';
import { ToolCall } from '../../conversation/tool-call';
import { formatToolTitle } from '../../conversation/tool-title';
import { PersonIcon } from '../../ui/icons';
import { parseJson } from '../../ui/json';
import type { Tone } from '../../ui/status-chip';
import { Timestamp } from '../../ui/timestamp';
import type { AgentCall } from './run-messages';

type Approval = AgentCall['approvals'][number];

interface AgentCallItemProps {
  call: AgentCall;
  /** The run has ended. */
  isOver: boolean;
  question: ((approvalId: string) => ReactNode) | null;
}

/** Shows a call of an agent, with the approvals that it requested. */
export function AgentCallItem({ call, isOver, question }: AgentCallItemProps) {
  const { name, given, result, approvals } = call;
  const value = parseJson(given);
  const corrected = findDecision(call)?.arguments;
  const isTruncated = value === undefined && given !== '';
  const note = (isTruncated || corrected) && (
    <>
      {isTruncated && 'Truncated. Download the transcript to see the full call.'}
      {corrected && <CorrectedArgumentsView value={corrected} />}
    </>
  );
  return (
    <div>
      <ToolCall
        title={formatToolTitle(name, value)}
        name={name}
        result={result}
        callArguments={value ?? given}
        state={getCallState(call, isOver)}
        note={note}
      />
      {approvals.map((approval) =>
        approval.status === 'pending' ? (
          <Box key={approval.id} p="md" id={getQuestionElementId(approval.id)}>
            {question?.(approval.id)}
          </Box>
        ) : (
          <CallDecision key={approval.id} approval={approval} callId={call.id} />
        ),
      )}
    </div>
  );
}

/** Returns the id of the element that holds a pending approval. */
export const getQuestionElementId = (approvalId: string): string => `question-${approvalId}`;

/** Finds the decision about this call, where calls of its approval were decided one by one. */
const findDecision = ({ id, approvals }: AgentCall) =>
  approvals.flatMap(({ calls }) => calls?.find((one) => one.id === id)?.decision ?? [])[0];

function getCallState(call: AgentCall, isRunFinished: boolean): { tone: Tone; word: string } {
  const { result, failed, approvals } = call;
  const last = approvals.at(-1)?.status;
  if (findDecision(call)?.status === 'refused') return { tone: 'idle', word: 'Rejected' };
  if (result !== null) return failed ? { tone: 'error', word: 'Failed' } : { tone: 'success', word: 'Completed' };
  if (last === 'pending') return { tone: 'timeout', word: 'Waiting for approval' };
  if (last === 'rejected' || last === 'expired') return { tone: 'idle', word: 'Not called' };
  return isRunFinished ? { tone: 'idle', word: 'No result' } : { tone: 'running', word: 'Running' };
}

const DECISION_LABELS: Partial<Record<Approval['status'], { word: string; tone: Tone }>> = {
  approved: { word: 'Approved', tone: 'success' },
  rejected: { word: 'Rejected', tone: 'error' },
  expired: { word: 'Expired without a decision', tone: 'idle' },
};

function CallDecision({ approval, callId }: { approval: Approval; callId: string | null }) {
  const { status, decided_by: by, decided_at: at } = approval;
  const own = approval.calls?.find(({ id }) => id === callId)?.decision;
  const decision = own ? CALL_STATUSES[own.status] : DECISION_LABELS[status];
  const reason = own ? own.reason : approval.reason;
  if (!decision) return null;
  return (
    <Group component="p" className="caption" gap="4px 8px" p="8px 12px" data-tone={decision.tone}>
      <PersonIcon />
      <Text component="b" fw={600} c="var(--tone)">
        {decision.word}
      </Text>
      {by && <span>by {formatDecider(by)}</span>}
      {at && <Timestamp at={Date.parse(at)} />}
      {reason && <span>{reason}</span>}
    </Group>
  );
}
