import { ModelSetupInstructions } from '../../models/missing-model-state';
import { ErrorNotice, type Explanation } from '../../ui/notice';

const EXPLANATIONS: Record<string, Explanation> = {
  no_model: {
    title: 'No language model is configured',
    children: (
      <>
        At least one check is graded by a model.
        <ModelSetupInstructions />
      </>
    ),
  },
  evaluation_under_way: { children: 'This version is already being evaluated.' },
  no_examples: { children: 'Turn on at least one example first.' },
};

/** Explains why an evaluation was not started, and the next step. */
export const EvaluationError = ({ error }: { error: Error | null }) => (
  <ErrorNotice title="Evaluation not started" error={error} explanations={EXPLANATIONS} />
);
