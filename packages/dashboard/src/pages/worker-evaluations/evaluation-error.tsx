import { ModelSetupInstructions } from '../../models/missing-model-state';
import { ErrorNotice, type Explanation } from '../../ui/notice';

const EXPLANATIONS: Record<string, Explanation> = {
  no_model: {
    title: 'Not evaluated: no language model configured',
    children: (
      <>
        A check is graded by a model.
        <ModelSetupInstructions />
      </>
    ),
  },
  evaluation_under_way: { children: 'This version is already being evaluated.' },
  no_examples: { children: 'No examples are turned on.' },
};

/** Explains why an evaluation was not started, and the next step. */
export const EvaluationError = ({ error }: { error: Error | null }) => (
  <ErrorNotice title="Not evaluated" error={error} explanations={EXPLANATIONS} />
);
