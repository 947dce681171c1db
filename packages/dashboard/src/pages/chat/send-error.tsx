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
      <Notice tone="error" title="Your message was not sent">
        This conversation went on elsewhere, perhaps in another tab of yours. What was said there is shown above;{' '}
        {code === 'turn_under_way' ? 'send yours once it is answered.' : 'decide what waits there, then send yours.'}
      </Notice>
    );
  }
  return <ErrorNotice title="Your message was not sent" error={toConnectionError(error)} />;
}
