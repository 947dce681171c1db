import { Box, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { CandidateStatusChip, OutcomeCountChips } from '../../candidates/candidate-chips';
import { useCandidates } from '../../candidates/candidate-queries';
import type { Candidate } from '../../shell/api';
import { candidatePath } from '../../shell/paths';
import { ListItem } from '../../ui/list-item';
import { LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';

const isDecided = ({ status }: Candidate): boolean => status === 'promoted' || status === 'dropped';

/** Lists proposed versions; renders nothing if there never was one. */
export function CandidatesPanel({ workerId }: { workerId: string }) {
  const { data, error, refetch } = useCandidates(workerId);
  const [showsAll, setShowsAll] = useState(false);
  if (error && !data) return <LoadErrorNotice what="The candidates" error={error} retry={refetch} />;
  if (!data || data.length === 0) return null;
  const visibleCandidates = showsAll ? data : data.filter((one) => !isDecided(one));
  const decidedCount = data.filter(isDecided).length;
  return (
    <Box mb="lg">
      <Panel
        title="Candidates"
        aside={
          decidedCount > 0 && (
            <Button size="compact-sm" variant="default" aria-pressed={showsAll} onClick={() => setShowsAll(!showsAll)}>
              {showsAll ? 'Show pending only' : `Show all (${data.length})`}
            </Button>
          )
        }
      >
        {visibleCandidates.length === 0 ? (
          <Text fz="sm" c="dimmed">
            No pending candidates. To create a candidate, use “Dry run” on the Code tab.
          </Text>
        ) : (
          <ul className="panel-list divided rows">
            {visibleCandidates.map((candidate) => (
              <CandidateItem key={candidate.id} candidate={candidate} />
            ))}
          </ul>
        )}
      </Panel>
    </Box>
  );
}

function CandidateItem({ candidate }: { candidate: Candidate }) {
  const { id, worker_id: workerId, message, origin, status, summary, created_by_label: by, created_at: at } = candidate;
  return (
    <ListItem
      title={<Link to={candidatePath(workerId, id)}>{message || 'Proposed version'}</Link>}
      about={
        <>
          {origin === 'repair' ? 'Repair' : `By ${by ?? 'a member'}`}, <Timestamp at={Date.parse(at)} />
        </>
      }
    >
      <OutcomeCountChips summary={summary} />
      {status !== 'rehearsing' && <CandidateStatusChip status={status} />}
    </ListItem>
  );
}
