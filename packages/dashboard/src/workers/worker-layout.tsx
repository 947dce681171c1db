import { Box, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import { renderResourceError } from '../accounts/resource-error';
import type { Worker } from '../shell/api';
import { LinkTabs } from '../shell/link-tabs';
import { paths, secretFormPath, workerPath } from '../shell/paths';
import { useWorkspace } from '../shell/use-me';
import { useTitle } from '../shell/use-title';
import { Notice } from '../ui/notice';
import { PageHeader } from '../ui/page-header';
import { Timestamp } from '../ui/timestamp';
import { AgentProblems } from './agent-problems';
import { formatNetworkRestriction } from './network-labels';
import { PauseButton } from './pause-button';
import { PendingVersionNotice } from './pending-version-notice';
import { RunButton } from './run-button';
import { SkillUpdateNotice } from './skill-update-notice';
import { formatTriggers } from './trigger-descriptions';
import { getWorker, useWorker, workerKeys } from './use-worker';
import { WorkerHealthChip } from './worker-health';

const TABS = [
  ['worker', 'Runs'],
  ['workerConversations', 'Conversation'],
  ['workerCode', 'Code'],
  ['workerTriggers', 'Triggers'],
  ['workerVersions', 'Versions'],
  ['workerEvaluations', 'Evaluations'],
  ['workerAlerts', 'Alerts'],
  ['workerSettings', 'Settings'],
] as const;

interface WorkerLayoutProps {
  /** The name of this tab; none for the first one. */
  tab?: string;
  /** Buttons of this tab, beside those that every tab has. */
  actions?: (worker: Worker) => ReactNode;
  children: (worker: Worker) => ReactNode;
}

/** Frames every page of a worker with its head and tabs. */
export function WorkerLayout({ tab, actions, children }: WorkerLayoutProps) {
  const { workerId = '' } = useParams();
  const workspaceId = useWorkspace()?.id;
  const query = useWorker(workerId);
  const { data: worker } = query;
  const above = tab && worker ? [{ to: workerPath(workerId), label: worker.name }] : [];
  useTitle(worker && (tab ?? worker.name), above);
  const resourceError = renderResourceError({
    query,
    resourceKind: 'worker',
    queryKey: workerKeys.one(workspaceId, workerId),
    read: (headers) => getWorker(workerId, headers),
  });
  if (resourceError) return resourceError;
  return (
    <>
      {worker ? (
        <PageHeader
          title={worker.name}
          about={<WorkerSummary worker={worker} />}
          actions={
            <>
              <PauseButton worker={worker} />
              {tab && <RunButton worker={worker} />}
              {actions?.(worker)}
            </>
          }
        />
      ) : (
        <PageHeader title={<Skeleton height={40} width="16rem" />} about={<Skeleton height={22} width="24rem" />} />
      )}
      <LinkTabs label="Worker" tabs={listTabs(workerId, worker)} />
      {worker && <PendingVersionNotice worker={worker} />}
      {worker && worker.missing_secrets.length > 0 && <MissingSecretsNotice names={worker.missing_secrets} />}
      {worker?.connection_problems && worker.connection_problems.length > 0 && (
        <BrokenConnectionsNotice names={worker.connection_problems} />
      )}
      {worker && <AgentProblems worker={worker} />}
      {worker && (worker.skill_update || worker.skill_deleted) && (
        <Box mb="lg">
          <SkillUpdateNotice worker={worker} />
        </Box>
      )}
      {worker ? children(worker) : <Skeleton height={360} radius={10} />}
    </>
  );
}

/** Lists the tabs; only agents have conversations. */
const listTabs = (workerId: string, worker: Worker | undefined) =>
  TABS.filter(([pattern]) => pattern !== 'workerConversations' || worker?.runner === 'agent').map(
    ([pattern, label]) => ({
      to: workerPath(workerId, pattern),
      label,
      isOpenBelow: pattern === 'workerConversations',
    }),
  );

function WorkerSummary({ worker }: { worker: Worker }) {
  const network = formatNetworkRestriction(worker.network);
  return (
    <>
      <WorkerHealthChip worker={worker} />
      <span>{formatTriggers(worker.triggers)}</span>
      {worker.next_run_at !== null && (
        <span>
          Next run <Timestamp at={Date.parse(worker.next_run_at)} />
        </span>
      )}
      {worker.visibility === 'private' && <span>Private</span>}
      {network && <span>{network}</span>}
    </>
  );
}

const MissingSecretsNotice = ({ names }: { names: string[] }) => (
  <Box mb="lg">
    <Notice
      tone="error"
      title={names.length === 1 ? `The secret ${names[0]} isn’t set` : 'Some secrets aren’t set'}
      action={names.map((name) => (
        <Link key={name} to={secretFormPath(name)}>
          Set {name}
        </Link>
      ))}
    >
      Runs will fail until this is fixed.
    </Notice>
  </Box>
);

const BrokenConnectionsNotice = ({ names }: { names: string[] }) => (
  <Box mb="lg">
    <Notice
      tone="error"
      title={
        names.length === 1
          ? `The connection ${names[0]} is missing or failing`
          : `Connections missing or failing: ${names.join(', ')}`
      }
      action={<Link to={paths.connections}>View connections</Link>}
    >
      Runs will fail until this is fixed. Private connections only work with private workers that have the same owner.
    </Notice>
  </Box>
);
