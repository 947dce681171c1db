import { Link } from 'react-router';
import { useCandidateApproval } from '../../candidates/candidate-queries';
import { workerRunPath } from '../../shell/paths';

/** Links to the failed run, where the repair is described. */
export function FailedRunLink({ candidateId }: { candidateId: string }) {
  const { data: approval } = useCandidateApproval(candidateId);
  return approval ? <Link to={workerRunPath(approval.run_id)}>View failed run</Link> : null;
}
