import { ApiError } from '@gantry/sdk';
import { ModelSetupInstructions } from '../../models/missing-model-state';
import { ErrorNotice, Notice } from '../../ui/notice';

/** Explains why an evaluation was not started, and the next step. */
export function EvaluationError({ error }: { error: Error | null }) {
  const code = error instanceof ApiError ? error.code : undefined;
  switch (code) {
    case 'no_model':
      return (
        <Notice tone="error" title="Not evaluated: no language model is set">
          One of the checks is judged by a model.
          <ModelSetupInstructions />
        </Notice>
      );
    case 'evaluation_under_way':
      return <Notice tone="error">This version is already being evaluated.</Notice>;
    case 'no_examples':
      return <Notice tone="error">No example is switched on, so there is nothing to evaluate.</Notice>;
    default:
      return <ErrorNotice title="Not evaluated" error={error} />;
  }
}
