import { Box, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Run, RunError } from '../shell/api';

/** Next steps by error code. */
const NEXT_STEPS: Partial<Record<RunError['code'], string>> = {
  exception: 'Check the inputs; if they are right, the code needs a fix.',
  timeout: 'Give it less to do, or raise its timeout_seconds.',
  out_of_memory: 'Give it less to do at once.',
  output_too_large: 'Return less, or save large results as a file with context.artifact().',
  dependency_install: 'Check the names and versions under python_dependencies.',
  executor_lost: 'The executor of this run was lost. Your inputs are fine; run it again.',
  missing_secret: 'Ask an admin of this workspace to set the secret, then run it again.',
  missing_connection: 'Do so under Connections, or in the settings of the worker; then run it again.',
  invalid_inputs: 'Correct the inputs and run it again.',
  approval_rejected: 'An approver rejected it. See the approval for the reason.',
  budget_exceeded:
    'Wait for the next month, or raise the budget: budget_usd of an agent’s run, budget_usd_per_month of the worker, or that of the workspace or the token.',
  model_unavailable:
    'Run it again later, or choose another model; the provider’s key and address are under Settings, Models.',
  output_invalid: 'Describe the result in the agent’s text, make its schema simpler, or choose another model.',
  turns_exceeded: 'Give it less to do, or raise its max_turns.',
  sandbox:
    'The platform could not start it. Run it again. If this persists, contact the operator of this installation.',
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
  if (error.code === 'cancelled') return <Text c="dimmed">The run was stopped before it ended.</Text>;
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
        {CODES_WITH_TITLE.has(error.code) ? errorTitle(error.code) : (error.type ?? errorTitle(error.code))}
        {step !== undefined && ` in “${step}”`}
      </Box>
      <Text className="pre-wrap" ff="monospace" fz="sm">
        {error.message}
      </Text>
      {nextStep && <Text fz="sm">{nextStep}</Text>}
      {children}
      <Stack gap="xs" mt={4} fz="sm">
        {error.trace && (
          <details>
            <summary>Where in the code</summary>
            <Box component="pre" className="code-box" mt="xs" tabIndex={0}>
              {error.trace}
            </Box>
          </details>
        )}
        {inputs && (
          <details>
            <summary>Inputs of this run</summary>
            <Box component="pre" className="code-box" mt="xs" tabIndex={0}>
              {JSON.stringify(inputs, null, 2)}
            </Box>
          </details>
        )}
      </Stack>
    </Stack>
  );
}

const errorTitle = (code: RunError['code']): string => {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
