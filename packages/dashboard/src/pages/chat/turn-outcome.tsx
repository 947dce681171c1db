import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { toConnectionError } from '../../conversation/connection-error';
import type { ChatTurn } from '../../shell/api';
import { paths } from '../../shell/paths';
import { ErrorNotice, Notice } from '../../ui/notice';
import { useResumeConversation } from './chat-queries';

interface TurnOutcomeProps {
  conversationId: string;
  turn: ChatTurn;
  /** Sends a message in this conversation; absent if this turn is not the last, or one is running. */
  send: ((text: string) => void) | undefined;
}

/** Explains why an answer is missing or incomplete, and what to do next; renders nothing for a complete one. */
export function TurnOutcome({ conversationId, turn, send }: TurnOutcomeProps) {
  if (turn.status === 'stopped')
    return <Notice tone="info">You stopped the agent here. What it did stays done.</Notice>;
  const renderSendButton = (label: string, text: string) =>
    send && (
      <Button variant="default" onClick={() => send(text)}>
        {label}
      </Button>
    );
  if (turn.status === 'interrupted') {
    return <InterruptedTurn conversationId={conversationId} canResume={send !== undefined} />;
  }
  if (turn.status !== 'failed') return null;
  const { code = '', detail = 'Something went wrong.' } = turn.error ?? {};
  const [title, next] = ERROR_HINTS[code] ?? ['The agent could not answer', undefined];
  const canContinue = code === 'too_many_steps';
  return (
    <Notice
      tone="error"
      title={title}
      action={
        canContinue ? renderSendButton('Let it continue', 'Go on.') : renderSendButton('Send it again', turn.message)
      }
    >
      {detail}
      {next && <p>{next}</p>}
    </Notice>
  );
}

function InterruptedTurn({ conversationId, canResume }: { conversationId: string; canResume: boolean }) {
  const resume = useResumeConversation(conversationId);
  return (
    <>
      <Notice
        tone="error"
        title="The agent was interrupted"
        action={
          canResume && (
            <Button variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
              Go on
            </Button>
          )
        }
      >
        The service ended while it worked. What it did stays done, and it goes on from there.
      </Notice>
      <ErrorNotice title="The agent does not go on" error={toConnectionError(resume.error)} />
    </>
  );
}

const BUDGET_HINT = (
  <>
    An admin can raise it under <Link to={paths.models}>Models</Link>.
  </>
);
const KEY_HINT =
  'An operator has to check MODEL_PROVIDERS; for a model of the workspace, an admin has to check its connection.';

/** The title and the remedy by error code. */
const ERROR_HINTS: Record<string, [title: string, next: ReactNode]> = {
  budget_exceeded: ['The budget is used up', BUDGET_HINT],
  model_without_price: [
    'The model has no price',
    'While a budget holds, a model needs a price: in MODEL_PROVIDERS, or for a model of the workspace from an admin.',
  ],
  model_unauthorized: ['The provider rejected the key', KEY_HINT],
  model_not_found: ['The provider has no such model', KEY_HINT],
  model_rate_limited: ['The provider’s rate limit was reached', 'Wait a minute, then send it again.'],
  model_unavailable: ['The model does not answer', 'Wait a minute, then send it again, or choose another model.'],
  model_timed_out: ['The model does not answer', 'Send it again, or choose another model.'],
  model_filtered: [
    'The provider withheld the answer',
    'Its content filter blocked it. Rephrase it, or choose another model.',
  ],
  model_malformed: ['The model’s answer could not be read', 'Send it again, or choose another model.'],
  model_refused: ['The provider rejected the request', 'A long conversation may be too long for it: begin a new one.'],
  answer_too_long: ['The answer is too long', 'Ask for it in smaller parts.'],
  too_many_steps: ['The agent took too many steps', undefined],
};
