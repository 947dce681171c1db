import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { CandidateChanges } from '../../candidates/candidate-changes';
import { CandidateDecision } from '../../candidates/candidate-decision';
import { CandidateEvidence } from '../../candidates/candidate-evidence';
import { useCandidate } from '../../candidates/candidate-queries';
import { VerdictLine } from '../../candidates/verdict-line';
import type { Repair, WorkerRun } from '../../shell/api';
import { candidatePath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { formatDollars, formatNumber } from '../../ui/format';
import { CheckIcon, ClockIcon, CrossIcon, StopIcon, WaitIcon } from '../../ui/icons';
import { ErrorNotice, LoadErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { StatusChip, type StatusDisplay } from '../../ui/status-chip';
import { Timestamp } from '../../ui/timestamp';
import { isRepairActive, isRepairable, useRepair, useStopRepair } from './repair-queries';

const AgentText = lazy(() => import('../../conversation/agent-text'));

/** Shows the latest repair of a failed run, live; renders nothing without one. */
export function RepairPanel({ run }: { run: WorkerRun }) {
  const { data: repair, error, refetch } = useRepair(run);
  if (!isRepairable(run)) return null;
  if (error) return <LoadErrorNotice what="The repair" error={error} retry={refetch} />;
  return repair ? <RepairDetails run={run} repair={repair} /> : null;
}

const STATUS_DISPLAYS: Record<Repair['status'], StatusDisplay> = {
  working: { tone: 'running', word: 'Working', icon: <WaitIcon /> },
  rehearsing: { tone: 'running', word: 'Rehearsing', icon: <WaitIcon /> },
  waiting: { tone: 'timeout', word: 'Awaiting decision', icon: <ClockIcon /> },
  approved: { tone: 'success', word: 'Approved', icon: <CheckIcon /> },
  rejected: { tone: 'idle', word: 'Rejected', icon: <CrossIcon /> },
  failed: { tone: 'error', word: 'No fix found', icon: <CrossIcon /> },
  stopped: { tone: 'idle', word: 'Stopped', icon: <StopIcon /> },
};

function RepairDetails({ run, repair }: { run: WorkerRun; repair: Repair }) {
  const statusDisplay = STATUS_DISPLAYS[repair.status];
  const candidate = useCandidate(repair.worker_id, repair.candidate_id);
  return (
    <Panel
      title="Repair"
      aside={
        <Group component="span" gap="8px 12px">
          <StatusChip {...statusDisplay} />
          <span className="visually-hidden" role="status">{`Repair: ${statusDisplay.word}.`}</span>
          {isRepairActive(repair) && <StopRepairButton run={run} />}
        </Group>
      }
    >
      <Stack gap="lg">
        <RepairSummary repair={repair} />
        {candidate.data && repair.status !== 'working' && <VerdictLine candidate={candidate.data} level={3} />}
        {repair.error && (
          <Notice tone="error" title="No fix proposed">
            {repair.error}
          </Notice>
        )}
        <RepairSteps repair={repair} />
        {repair.explanation && (
          <Stack component="section" gap="sm" aria-label="Explanation">
            <Box component="h3" fz="md">
              Cause and fix
            </Box>
            <Suspense>
              <AgentText text={repair.explanation} />
            </Suspense>
          </Stack>
        )}
        {candidate.data && (
          <>
            {candidate.data.cases.length > 0 && (
              <Stack component="section" gap="sm" aria-label="Rehearsals">
                <Box component="h3" fz="md">
                  Rehearsal results
                </Box>
                <CandidateEvidence cases={candidate.data.cases} failedRunId={run.id} />
              </Stack>
            )}
            <Stack component="section" gap="sm" aria-label="Proposed change">
              <Group gap="8px 12px" align="baseline" justify="space-between" fz="sm">
                <Box component="h3" fz="md">
                  Proposed change
                </Box>
                <Link to={candidatePath(repair.worker_id, candidate.data.id)}>Open candidate</Link>
              </Group>
              <CandidateChanges candidate={candidate.data} />
            </Stack>
          </>
        )}
        {candidate.error && (
          <LoadErrorNotice what="The proposed change" error={candidate.error} retry={candidate.refetch} />
        )}
        {repair.approval_id !== null && repair.candidate_id !== null && (
          <Box component="section" pt="lg" style={{ borderTop: '1px solid var(--line)' }} aria-label="Decision">
            <CandidateDecision candidateId={repair.candidate_id} />
          </Box>
        )}
      </Stack>
    </Panel>
  );
}

function RepairSummary({ repair }: { repair: Repair }) {
  const { model, usage, created_at: startedAt, created_by: by, instructions } = repair;
  const tokens = usage.input_tokens + usage.output_tokens;
  return (
    <div>
      <Group component="p" gap="4px 16px" align="stretch" fz="sm" c="dimmed">
        <span>
          {by === null ? 'Started automatically' : 'Started'} <Timestamp at={Date.parse(startedAt)} />
        </span>
        {model && <span>{model}</span>}
        {tokens > 0 && <span>{formatNumber(tokens)} tokens</span>}
        {usage.usd !== null && usage.usd > 0 && <span>{formatDollars(usage.usd)}</span>}
      </Group>
      {instructions && (
        <Text className="wrap-anywhere" mt="xs" fz="sm">
          “{instructions}”
        </Text>
      )}
    </div>
  );
}

/** Lists the steps live while the model works, and collapses them afterwards. */
function RepairSteps({ repair }: { repair: Repair }) {
  const { steps, status } = repair;
  if (steps.length === 0) {
    return isRepairActive(repair) ? (
      <Text fz="sm" c="dimmed">
        Reading the run and the code…
      </Text>
    ) : null;
  }
  const isLive = isRepairActive(repair);
  return (
    <details key={String(isLive)} open={isLive}>
      <summary>{steps.length === 1 ? '1 step' : `${steps.length} steps`}</summary>
      <Stack component="ol" className="wrap-anywhere" gap={4} mt="xs">
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are only added, and may be alike.
          <Box key={index} component="li" c={status === 'working' && index === steps.length - 1 ? undefined : 'dimmed'}>
            {step}
          </Box>
        ))}
      </Stack>
    </details>
  );
}

function StopRepairButton({ run }: { run: WorkerRun }) {
  const role = useWorkspace()?.role;
  const stop = useStopRepair(run);
  if (role === undefined || role === 'viewer') return null;
  return (
    <>
      <Button size="compact-sm" variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
        Stop
      </Button>
      <ErrorNotice title="Repair not stopped" error={stop.error} />
    </>
  );
}
