import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Worker } from '../../shell/api';
import { workerPath } from '../../shell/paths';
import { Notice } from '../../ui/notice';

/** The name of the input that holds a message. */
export const MESSAGE_INPUT = 'message';

/** Explains why this member cannot write to the worker now; null if they can. */
export function renderReadOnlyNotice({ id, runner, inputs, status, permissions }: Worker): ReactNode {
  if (runner !== 'agent') return <Notice tone="info">Only agents have conversations.</Notice>;
  const takesMessages = inputs.some(
    ({ name, type }) => name === MESSAGE_INPUT && (type === 'text' || type === 'textarea'),
  );
  if (inputs.length > 0 && !takesMessages) {
    return (
      <Notice
        tone="info"
        title="This agent doesn’t accept messages"
        action={permissions.edit && <Link to={workerPath(id, 'workerSettings')}>Open settings</Link>}
      >
        The agent has no text input named {MESSAGE_INPUT}. Add one so that members can message the agent here.
      </Notice>
    );
  }
  if (status !== 'active') {
    const remedy = status === 'paused' ? 'resume' : 'restore';
    return (
      <Notice tone="info">
        This agent is {status}. To send messages, {remedy} the agent first.
      </Notice>
    );
  }
  if (!permissions.run) return <Notice tone="info">Viewers can read conversations but can’t message the agent.</Notice>;
  return null;
}
