import { ApiError } from '@gantry/sdk';
import { toConnectionError } from '../../conversation/connection-error';
import { MissingModelState } from '../../models/missing-model-state';
import { ErrorNotice, Notice } from '../../ui/notice';

/** Explains why a message was not accepted, and what to do; its text is still in the field. */
export function SendError({ error }: { error: Error | null }) {
  const code = error instanceof ApiError ? error.code : undefined;
  if (code === 'no_model') return <MissingModelState level={2} />;
  if (code === 'turn_under_way' || code === 'approval_waiting') {
    return (
      <Notice tone="error" title="Message not sent">
        This conversation continued elsewhere, possibly in another tab. The new messages are shown above.{' '}
        {code === 'turn_under_way'
          ? 'Send your message once the agent has responded.'
          : 'Respond to the pending request, then send your message.'}
      </Notice>
    );
  }
  return <ErrorNotice title="Message not sent" error={toConnectionError(error)} />;
}
