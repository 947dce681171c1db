import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { PendingApproval } from '../../approvals/pending-approval';
import { AgentMessage } from '../../conversation/agent-message';
import { UserMessage } from '../../conversation/user-message';
import { WorkingIndicator } from '../../conversation/working-indicator';
import { OutputJson } from '../../outputs/output-json';
import { RunMessages } from '../../runs/conversation/run-conversation';
import { useWorkerRun } from '../../runs/use-worker-run';
import { isRunFinished } from '../../runs/worker-runs';
import type { WorkerTurn } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { useMe, useWorkspace } from '../../shell/use-me';
import { formatCount, formatDuration } from '../../ui/format';
import { parseJson } from '../../ui/json';
import { LoadErrorNotice, Notice } from '../../ui/notice';
import { useMemberNames } from '../../workers/use-member-names';

/** Shows a message and the answer of its run; for the last one, also the agent's work. */
export function Turn({ turn, isLast }: { turn: WorkerTurn; isLast: boolean }) {
  const { data: me } = useMe();
  const names = useMemberNames();
  const [isLive, setLive] = useState(isLast);
  const isOwn = turn.created_by === me?.id;
  const author = isOwn ? 'You' : ((turn.created_by && names?.get(turn.created_by)) ?? 'A token');
  return (
    <Stack component="li" gap="md">
      <UserMessage author={author} showsAuthor={!isOwn} text={turn.message} at={Date.parse(turn.created_at)} />
      <Stack component="article" gap="md" aria-label="Agent">
        <h3 className="visually-hidden">The agent’s answer</h3>
        {isLive ? <LiveRun turn={turn} /> : <Answer turn={turn} />}
        <MissingAnswerNotice turn={turn} />
        <Group gap="4px 16px" fz="xs" c="dimmed">
          <Link to={workerRunPath(turn.run_id)}>View run</Link>
          {!isLive && (
            <Button variant="subtle" size="compact-xs" onClick={() => setLive(true)}>
              Show steps
            </Button>
          )}
          {turn.ended_at && <span>{formatDuration(Date.parse(turn.ended_at) - Date.parse(turn.created_at))}</span>}
          {turn.left_out > 0 && (
            <span>{formatCount(turn.left_out, 'earlier message')} left out because the conversation is too long</span>
          )}
        </Group>
      </Stack>
    </Stack>
  );
}

function LiveRun({ turn }: { turn: WorkerTurn }) {
  const workspaceId = useWorkspace()?.id;
  const { query, run, live } = useWorkerRun(workspaceId, turn.run_id);
  if (query.error && !run) return <LoadErrorNotice what="The run" error={query.error} retry={query.refetch} />;
  if (!run) return <WorkingIndicator />;
  return (
    <>
      {live.interrupted && (
        <Notice tone="info">
          Connection lost. The agent is still working, and this page will update once you’re reconnected.
        </Notice>
      )}
      <RunMessages
        run={run}
        live={live}
        question={(approvalId) => <PendingApproval run={run} approvalId={approvalId} />}
        empty={<Answer turn={turn} />}
      />
      {isJson(turn.answer) && <Answer turn={turn} />}
    </>
  );
}

const isJson = (answer: string | null): boolean => {
  const value = answer === null ? undefined : parseJson(answer);
  return typeof value === 'object' && value !== null;
};

function Answer({ turn: { answer } }: { turn: WorkerTurn }) {
  if (answer === null) return null;
  return isJson(answer) ? <OutputJson value={parseJson(answer)} /> : <AgentMessage text={answer} />;
}

const FAILURE_TITLES: Partial<Record<WorkerTurn['status'], string>> = {
  failed: 'The agent could not answer',
  timed_out: 'The agent took too long',
};

/** Explains why an answer is missing. */
function MissingAnswerNotice({ turn }: { turn: WorkerTurn }) {
  const { status, error, answer } = turn;
  if (!isRunFinished(turn) || answer !== null) return null;
  if (status === 'completed')
    return <Notice tone="info">The answer is too long to show here. View the run instead.</Notice>;
  const title = FAILURE_TITLES[status];
  if (title) {
    return (
      <Notice tone="error" title={title}>
        {error}
      </Notice>
    );
  }
  return (
    <Text fz="sm" c="dimmed">
      {status === 'rejected' ? 'The run was rejected.' : 'The run was cancelled.'} Completed actions weren’t undone.
    </Text>
  );
}
