import type { ReactNode } from 'react';
import { deciderName } from '../../approvals/decider-name';
import { jsonOf, ToolCall } from '../../conversation/tool-call';
import { PersonIcon } from '../../ui/icons';
import type { Tone } from '../../ui/status-chip';
import { Timestamp } from '../../ui/timestamp';
import styles from './run-conversation.module.css';
import type { AgentCall } from './said';
import { toolTitle } from './tool-title';

type Approval = AgentCall['approvals'][number];

interface MadeCallProps {
  call: AgentCall;
  /** No more comes of the run. */
  isOver: boolean;
  question: ((approvalId: string) => ReactNode) | null;
}

/** A call of an agent, with the questions to people that it led to. */
export function MadeCall({ call, isOver, question }: MadeCallProps) {
  const { name, given, result, approvals } = call;
  const value = jsonOf(given);
  return (
    <div>
      <ToolCall
        {...{ title: toolTitle(name), name, result }}
        given={value ?? given}
        state={stateOf(call, isOver)}
        note={value === undefined && given !== '' && 'This is its beginning: the transcript has all of it.'}
      />
      {approvals.map((approval) =>
        approval.status === 'pending' ? (
          <div key={approval.id} className={styles.question} id={questionId(approval.id)}>
            {question?.(approval.id)}
          </div>
        ) : (
          <Decided key={approval.id} approval={approval} />
        ),
      )}
    </div>
  );
}

/** Id of the element that holds a waiting question. */
export const questionId = (approvalId: string): string => `question-${approvalId}`;

function stateOf({ result, failed, approvals }: AgentCall, isOver: boolean): { tone: Tone; word: string } {
  const last = approvals.at(-1)?.status;
  if (result !== null) return failed ? { tone: 'error', word: 'Failed' } : { tone: 'success', word: 'Answered' };
  if (last === 'pending') return { tone: 'timeout', word: 'Waits for a person' };
  if (last === 'rejected' || last === 'expired') return { tone: 'idle', word: 'Not made' };
  return isOver ? { tone: 'idle', word: 'No answer' } : { tone: 'running', word: 'Running' };
}

const DECISIONS: Partial<Record<Approval['status'], { word: string; tone: Tone }>> = {
  approved: { word: 'Approved', tone: 'success' },
  rejected: { word: 'Rejected', tone: 'error' },
  expired: { word: 'Nobody decided in time', tone: 'idle' },
};

function Decided({ approval: { status, decided_by: by, decided_at: at, reason } }: { approval: Approval }) {
  const decision = DECISIONS[status];
  if (!decision) return null;
  return (
    <p className={styles.decided} data-tone={decision.tone}>
      <PersonIcon />
      <b>{decision.word}</b>
      {by && <span>by {deciderName(by)}</span>}
      {at && <Timestamp at={Date.parse(at)} />}
      {reason && <span>{reason}</span>}
    </p>
  );
}
