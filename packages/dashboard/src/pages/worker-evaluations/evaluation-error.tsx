import { ModelSetupInstructions } from '../../models/missing-model-state';
import { ErrorNotice, type Explanation } from '../../ui/notice';

const EXPLANATIONS: Record<string, Explanation> = {
  no_model: {
    title: 'Not evaluated: no language model is set',
    children: (
      <>
        One of the checks is judged by a model.
        <ModelSetupInstructions />
      </>
    ),
  },
  evaluation_under_way: { children: 'This version is already being evaluated.' },
  no_examples: { children: 'No example is switched on, so there is nothing to evaluate.' },
};

/** Explains why an evaluation was not started, and the next step. */
export const EvaluationError = ({ error }: { error: Error | null }) => (
  <ErrorNotice title="Not evaluated" error={error} explanations={EXPLANATIONS} />
);
