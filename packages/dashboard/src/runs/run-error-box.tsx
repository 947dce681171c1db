import type { Run, RunError } from '../shell/api';
import styles from './run-error-box.module.css';

/** The next step for a person, by the code of the error. */
const NEXT_STEPS: Partial<Record<RunError['code'], string>> = {
  exception: 'Check the inputs; if they are right, the automation’s code needs a fix.',
  timeout: 'Give it less to do, or raise timeout_seconds in its manifest.',
  out_of_memory: 'Give it less to do at once.',
  output_too_large: 'Return less, or save large results as a file with context.artifact().',
  dependency_install: 'Check the names and versions under python_dependencies in its manifest.',
  executor_lost: 'The machine that worked on it went away. Nothing is wrong with your inputs; run it again.',
  missing_secret: 'Somebody who manages this workspace has to set the secret; then run it again.',
  invalid_inputs: 'Correct the inputs and run it again.',
  sandbox: 'The platform could not start it. Run it again; if it stays, tell whoever runs Gantry here.',
};

export function RunErrorBox({ error, inputs }: { error: RunError; inputs: Run['inputs'] }) {
  if (error.code === 'cancelled') return <p className={styles.cancelled}>The run was stopped before it ended.</p>;
  const nextStep = NEXT_STEPS[error.code];
  return (
    <div className={styles.box}>
      <h3 className={styles.title}>{error.type ?? titleOf(error.code)}</h3>
      <p className={styles.message}>{error.message}</p>
      {nextStep && <p className={styles.next}>{nextStep}</p>}
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
        <details>
          <summary>Inputs of this run</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
          <pre className={styles.trace} tabIndex={0}>
            {JSON.stringify(inputs, null, 2)}
          </pre>
        </details>
      </div>
    </div>
  );
}

const titleOf = (code: RunError['code']): string => {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};
