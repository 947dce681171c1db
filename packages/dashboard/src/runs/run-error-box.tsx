import { Box, Stack, Text } from '@mantine/core';
import { upperFirst } from '@mantine/hooks';
import type { ReactNode } from 'react';
import type { Run, RunError } from '../shell/api';

/** Next steps by error code. */
const NEXT_STEPS: Partial<Record<RunError['code'], string>> = {
  exception: 'Check the inputs. If they’re correct, fix the code.',
  timeout: 'Split the work into smaller runs, or raise timeout_seconds.',
  out_of_memory: 'Split the work into smaller runs. For a worker, you can also raise memory_mb.',
  output_too_large: 'Return less data, or save large results as files with context.artifact().',
  dependency_install: 'Check the package names and versions in python_dependencies.',
  executor_lost: 'The executor of this run was lost. Your inputs didn’t cause this error. Start a new run.',
  missing_secret: 'Ask a workspace admin to set the secret, then start a new run.',
  missing_connection: 'Fix the connection under Connections or in the worker’s settings, then start a new run.',
  invalid_inputs: 'Correct the inputs and start a new run.',
  approval_rejected: 'An approver rejected the request. See the approval for the reason.',
  budget_exceeded:
    'Wait until next month, or raise the budget for the run (budget_usd), worker (budget_usd_per_month), workspace or token.',
  model_unavailable:
    'Try again later, or choose another model. To check the provider’s key and URL, go to Settings > Models.',
  output_invalid: 'Describe the expected result in the agent’s task, simplify the schema, or choose another model.',
  turns_exceeded: 'Split the work into smaller runs, or raise max_turns.',
  sandbox:
    'The platform couldn’t start the run. Start a new run. If the problem persists, contact the operator of this installation.',
};

/** Codes whose title is clearer than the class of the exception. */
const CODES_WITH_TITLE: ReadonlySet<RunError['code']> = new Set([
  'model_unavailable',
  'output_invalid',
  'turns_exceeded',
]);

interface RunErrorBoxProps {
  error: RunError;
  /** Collapsed below the error; absent where the page shows them elsewhere. */
  inputs?: Run['inputs'];
  /** Name of the step that failed. */
  step?: string | undefined;
  /** Level of its heading. */
  level?: 2 | 3;
  /** The code that it came from. */
  children?: ReactNode;
}

export function RunErrorBox({ error, inputs, step = error.step?.name, level = 3, children }: RunErrorBoxProps) {
  if (error.code === 'cancelled') return <Text c="dimmed">The run was stopped before it finished.</Text>;
  const Heading = `h${level}` as const;
  const nextStep = NEXT_STEPS[error.code];
  return (
    <Stack
      className="wrap-anywhere"
      gap="xs"
      p="md"
      bdrs={6}
      bg="var(--error-wash)"
      style={{ borderLeft: '3px solid var(--error)' }}
    >
      <Box component={Heading} fz="md" c="var(--error)">
        {CODES_WITH_TITLE.has(error.code) ? formatErrorTitle(error.code) : (error.type ?? formatErrorTitle(error.code))}
        {step !== undefined && ` in “${step}”`}
      </Box>
      <Text className="pre-wrap" ff="monospace" fz="sm">
        {error.message}
      </Text>
      {nextStep && <Text fz="sm">{nextStep}</Text>}
      {children}
      <Stack gap="xs" mt={4} fz="sm">
        {error.trace && <CollapsedText title="Stack trace" text={error.trace} />}
        {inputs && <CollapsedText title="Run inputs" text={JSON.stringify(inputs, null, 2)} />}
      </Stack>
    </Stack>
  );
}

const CollapsedText = ({ title, text }: { title: string; text: string }) => (
  <details>
    <summary>{title}</summary>
    <Box component="pre" className="code-box" mt="xs" tabIndex={0}>
      {text}
    </Box>
  </details>
);

const formatErrorTitle = (code: RunError['code']): string => upperFirst(code.replaceAll('_', ' '));
