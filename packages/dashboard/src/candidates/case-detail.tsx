import { Link } from 'react-router';
import type { CandidateCase } from '../shell/api';
import { workerRunPath } from '../shell/paths';
import styles from './evidence.module.css';

type Difference = CandidateCase['differences'][number];

/** Details of a case: its differences, or the reason why there are none to compare, and links to its runs. */
export function CaseDetail({ one }: { one: CandidateCase }) {
  const { differences, reason, outcome, rehearsed, rehearsal_run_id: rehearsal, base_rehearsal_run_id: base } = one;
  const error = outcome === 'broken' || outcome === 'still_failing' ? rehearsed?.error : null;
  return (
    <div className={styles.body}>
      {reason && <p className={styles.reason}>{reason}</p>}
      {error && <pre className={styles.error}>{error}</pre>}
      {differences.length > 0 && <Differences differences={differences} />}
      {outcome === 'same' && <p className={styles.soft}>Both gave the same output.</p>}
      {(rehearsal || base) && (
        <p className={styles.links}>
          {rehearsal && <Link to={workerRunPath(rehearsal)}>Rehearsal of the candidate</Link>}
          {base && <Link to={workerRunPath(base)}>Rehearsal of the version before</Link>}
        </p>
      )}
    </div>
  );
}

function Differences({ differences }: { differences: Difference[] }) {
  return (
    <table className={styles.differences}>
      <thead>
        <tr>
          <th scope="col">In the output</th>
          <th scope="col">Was</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, was, now }) => (
          <tr key={path}>
            <th scope="row">{path ? <code>{path}</code> : 'The whole'}</th>
            <td data-label="Was">{was === null ? <Absent /> : <code data-side="was">{was}</code>}</td>
            <td data-label="Now">{now === null ? <Absent /> : <code data-side="now">{now}</code>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Absent = () => <span className={styles.soft}>Not there</span>;
