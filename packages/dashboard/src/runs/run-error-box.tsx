import type { ReactNode } from 'react';
import type { Run, RunError } from '../shell/api';
import styles from './run-error-box.module.css';

/** The next step for a person, by the code of the error. */
const NEXT_STEPS: Partial<Record<RunError['code'], string>> = {
  exception: 'Check the inputs; if they are right, the code needs a fix.',
  timeout: 'Give it less to do, or raise its timeout_seconds.',
  out_of_memory: 'Give it less to do at once.',
  output_too_large: 'Return less, or save large results as a file with context.artifact().',
  dependency_install: 'Check the names and versions under python_dependencies.',
  executor_lost: 'The machine that worked on it went away. Nothing is wrong with your inputs; run it again.',
  missing_secret: 'Somebody who manages this workspace has to set the secret; then run it again.',
  missing_connection: 'Do so under Connections, or in the settings of the worker; then run it again.',
  invalid_inputs: 'Correct the inputs and run it again.',
  approval_rejected: 'A person decided against it; the reason is with the approval.',
  budget_exceeded: 'Wait for the next month, or raise its budget_usd_per_month.',
  sandbox: 'The platform could not start it. Run it again; if it stays, tell whoever runs Gantry here.',
};

interface RunErrorBoxProps {
  error: RunError;
  /** Folded away below the error, unless the page shows them elsewhere. */
  inputs?: Run['inputs'];
  /** Name of the step in which it arose. */
  step?: string | undefined;
  /** Level of its heading. */
  level?: 2 | 3;
  /** The code that it came from. */
  children?: ReactNode;
}

export function RunErrorBox({ error, inputs, step = error.step?.name, level = 3, children }: RunErrorBoxProps) {
  if (error.code === 'cancelled') return <p className={styles.cancelled}>The run was stopped before it ended.</p>;
  const Heading = `h${level}` as const;
  const nextStep = NEXT_STEPS[error.code];
  return (
    <div className={styles.box}>
      <Heading className={styles.title}>
        {error.type ?? titleOf(error.code)}
        {step !== undefined && ` in “${step}”`}
      </Heading>
      <p className={styles.message}>{error.message}</p>
      {nextStep && <p className={styles.next}>{nextStep}</p>}
      {children}
      <div className={styles.folds}>
        {error.trace && (
          <details>
            <summary>Where in the code</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
            <pre className={styles.trace} tabIndex={0}>
              {error.trace}
            </pre>
          </details>
        )}
        {inputs && (
          <details>
            <summary>Inputs of this run</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
            <pre className={styles.trace} tabIndex={0}>
              {JSON.stringify(inputs, null, 2)}
            </pre>
          </details>
        )}
      </div>
    </div>
  );
}

const titleOf = (code: RunError['code']): string => {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
