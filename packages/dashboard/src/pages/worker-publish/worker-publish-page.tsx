import { Group, Skeleton, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { MANIFEST_PATH } from '../../automations/manifest';
import { findPublishProblem } from '../../automations/worker-manifest';
import type { Files } from '../../code/files';
import type { Worker } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { newAutomationPath, secretFormPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { Columns } from '../../ui/columns';
import { type Detail, DetailList } from '../../ui/detail-list';
import { ListItem } from '../../ui/list-item';
import { LoadErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useVersionFiles } from '../../workers/version-files';
import { WorkerLayout } from '../../workers/worker-layout';
import { listPageDifferences } from './page-differences';

/** Shows what an automation takes from a worker and what it lacks, before its files are edited and deployed. */
export default function WorkerPublishPage() {
  return <WorkerLayout tab="Publish as a page">{(worker) => <PublishReview worker={worker} />}</WorkerLayout>;
}

function PublishReview({ worker }: { worker: Worker }) {
  const workspace = useWorkspace();
  const { data: files, error, refetch } = useVersionFiles(worker.id, worker.sha);
  const problem =
    workspace?.role === 'viewer'
      ? 'Viewers can’t deploy automations. Ask a workspace admin for the member role.'
      : findPublishProblem(worker);
  if (problem !== null) {
    return (
      <Notice tone="info" title="This worker can’t be published as a page">
        {problem}
      </Notice>
    );
  }
  if (error && !files) return <LoadErrorNotice what="The code" error={error} retry={refetch} />;
  if (!files) return <Skeleton height={360} radius={10} />;
  return (
    <Stack gap="lg">
      <Stack gap="xs" maw="68ch">
        <h2>Publish as a page</h2>
        <p>
          Create an automation from version {worker.version}: a form with its own URL, available to your workspace or to
          anyone with the link. The worker isn’t affected, and later versions of the worker won’t change the page.
        </p>
      </Stack>
      <Columns>
        <DifferencesPanel worker={worker} files={files} />
        <Panel title="Copied from the worker">
          <Stack gap="md">
            <DetailList details={listCopiedParts(worker, files)} />
            <LinkButton to={newAutomationPath(worker.id)} fullWidth>
              Continue
            </LinkButton>
            <Text fz="sm" c="dimmed">
              Next, you’ll test the automation, choose who can run it, and deploy it. Nothing is published until you
              deploy.
            </Text>
          </Stack>
        </Panel>
      </Columns>
    </Stack>
  );
}

function DifferencesPanel({ worker, files }: { worker: Worker; files: Files }) {
  const differences = listPageDifferences(worker, files);
  return (
    <Panel title="Differences from the worker">
      <ul className="panel-list divided rows">
        {differences.map(({ feature, effect, secrets = [] }) => (
          <ListItem
            key={feature}
            title={feature}
            about={
              <>
                {effect}
                {secrets.length > 0 && <SecretLinks names={secrets} />}
              </>
            }
          />
        ))}
        <ListItem title="History" about="Runs, versions, alerts, examples and evaluations stay with the worker." />
      </ul>
    </Panel>
  );
}

const SecretLinks = ({ names }: { names: readonly string[] }) => (
  <Group component="span" gap="xs" mt={4}>
    {names.map((name) => (
      <Link key={name} to={secretFormPath(name)}>
        Set {name}
      </Link>
    ))}
  </Group>
);

const FILES_SHOWN = 12;

function listFileNames(files: Files): string[] {
  const paths = [...files.keys()].filter((path) => path !== MANIFEST_PATH);
  const hiddenCount = paths.length - FILES_SHOWN;
  return hiddenCount > 1 ? [...paths.slice(0, FILES_SHOWN), `and ${hiddenCount} more`] : paths;
}

function listCopiedParts(worker: Worker, files: Files): Detail[] {
  const { entrypoint, inputs, outputs, python_dependencies: packages, limits } = worker;
  const parts: [string, string[]][] = [
    ['Files', listFileNames(files)],
    ['Entrypoint', [entrypoint]],
    ['Inputs', inputs.map(({ name, label }) => label ?? name)],
    ['Outputs', outputs.map(({ name, label }) => label ?? name)],
    ['Packages', packages],
    ['Time limit', [`${limits.timeout_seconds} seconds`]],
  ];
  return parts.map(([name, list]) => [name, list.join('\n') || 'None']);
}
