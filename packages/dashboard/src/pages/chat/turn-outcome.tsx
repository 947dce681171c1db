import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { toConnectionError } from '../../conversation/connection-error';
import type { ChatTurn } from '../../shell/api';
import { paths } from '../../shell/paths';
import { ErrorNotice, Notice } from '../../ui/notice';
import { useResumeConversation } from './chat-queries';

export interface TurnOutcomeProps {
  conversationId: string;
  turn: ChatTurn;
  /** Sends a message in this conversation; absent if this turn is not the last, or one is running. */
  send: ((text: string) => void) | undefined;
}

/** Explains why an answer is missing or incomplete, and what to do next; renders nothing for a complete one. */
export function TurnOutcome({ conversationId, turn, send }: TurnOutcomeProps) {
  if (turn.status === 'stopped')
    return <Notice tone="info">You stopped the agent here. Completed actions weren’t undone.</Notice>;
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
      action={canContinue ? renderSendButton('Continue', 'Continue.') : renderSendButton('Send again', turn.message)}
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
              Continue
            </Button>
          )
        }
      >
        The service stopped while the agent was working. Completed actions weren’t undone, and the agent can pick up
        where it left off.
      </Notice>
      <ErrorNotice title="The agent can’t continue" error={toConnectionError(resume.error)} />
    </>
  );
}

const BUDGET_HINT = (
  <>
    An admin can raise the budget under <Link to={paths.models}>Models</Link>.
  </>
);
const KEY_HINT =
  'Ask the operator to check MODEL_PROVIDERS. For a workspace model, ask an admin to check its connection.';

/** The title and the remedy by error code. */
const ERROR_HINTS: Record<string, [title: string, next: ReactNode]> = {
  budget_exceeded: ['Budget exhausted', BUDGET_HINT],
  model_without_price: [
    'No price set for this model',
    'When a budget is set, every model needs a price. Ask the operator to add the price to MODEL_PROVIDERS or, for a workspace model, ask an admin to set it.',
  ],
  model_unauthorized: ['The provider rejected the key', KEY_HINT],
  model_not_found: ['Model not available from the provider', KEY_HINT],
  model_rate_limited: ['The provider’s rate limit was reached', 'Wait a minute, then send your message again.'],
  model_unavailable: [
    'The model isn’t responding',
    'Wait a minute, then send your message again, or choose another model.',
  ],
  model_timed_out: ['The model isn’t responding', 'Send your message again, or choose another model.'],
  model_filtered: [
    'The provider blocked the response',
    'The provider’s content filter was triggered. Rephrase your message, or choose another model.',
  ],
  model_malformed: ['The model’s response couldn’t be read', 'Send your message again, or choose another model.'],
  model_refused: ['The provider rejected the request', 'The conversation may be too long. Start a new one.'],
  answer_too_long: ['The response was too long', 'Break the request into smaller parts.'],
  too_many_steps: ['The agent took too many steps', undefined],
};
