import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Delivery } from '../../alerts/alert-words';
import { runPath, workerRunPath } from '../../shell/paths';
import { CodeToCopy } from '../../ui/code-to-copy';
import table from '../../ui/data-table.module.css';
import { absoluteTime, duration } from '../../ui/format';
import styles from './alert-page.module.css';

/** The attempts with the receiver's answers, and what was sent. */
export function DeliveryDetail({ delivery, children }: { delivery: Delivery; children: ReactNode }) {
  const { id, attempts, payload } = delivery;
  const run = runIn(payload);
  return (
    <div className={styles.detail}>
      {attempts.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <section className={table.scroll} tabIndex={0} aria-label="Attempts">
          <table className={table.table}>
            <thead>
              <tr>
                <th>Attempt</th>
                <th>Answer</th>
                <th className={table.number}>Took</th>
              </tr>
            </thead>
            <tbody>
              {attempts.map((attempt) => (
                <tr key={attempt.at}>
                  <td>{absoluteTime(Date.parse(attempt.at))}</td>
                  <td>
                    {attempt.status !== null &&
                      !attempt.error?.includes(String(attempt.status)) &&
                      `HTTP ${attempt.status} `}
                    {attempt.error && <span className={styles.refusal}>{attempt.error}</span>}
                    {attempt.status === null && !attempt.error && 'Handed over'}
                    {attempt.response && <code className={styles.response}>{attempt.response}</code>}
                  </td>
                  <td className={table.number}>{duration(attempt.duration_ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <CodeToCopy label={`Sent as ${id}`} code={JSON.stringify(payload, null, 2)} />
      <div className={styles.buttons}>
        {run && <Link to={run}>See the run</Link>}
        {children}
      </div>
    </div>
  );
}

/** The address of the run that the message tells of. */
function runIn({ data }: Delivery['payload']): string | null {
  if (typeof data !== 'object' || data === null) return null;
  const { run_id, automation_id } = data as Record<string, unknown>;
  if (typeof run_id !== 'string') return null;
  return typeof automation_id === 'string' ? runPath(automation_id, run_id) : workerRunPath(run_id);
}
