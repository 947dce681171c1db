import { Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { CONNECT_INSTRUCTIONS, ConnectAgentPanel, useBaseUrl } from '../../accounts/connect-agent';
import { LinkButton } from '../../shell/link-button';
import { paths } from '../../shell/paths';
import { Columns } from '../../ui/columns';
import { CopyableCode } from '../../ui/copyable-code';
import { Panel } from '../../ui/panel';
import styles from './overview-page.module.css';
import { StartChatPanel } from './start-chat-panel';

interface GettingStartedProps {
  workspaceId: string;
  canCreate: boolean;
}

/** Offers four ways to the first run in an empty workspace. */
export function GettingStarted({ workspaceId, canCreate }: GettingStartedProps) {
  const baseUrl = useBaseUrl();
  if (!canCreate) {
    return (
      <Text maw="68ch" c="dimmed">
        Nothing runs here yet. Once a member creates the first worker, its runs are shown here.
      </Text>
    );
  }
  return (
    <Stack gap="lg">
      <Text maw="68ch" c="dimmed">
        Nothing runs here yet. A worker is a Python function, or an agent with a task, that runs by itself: when the
        clock says so, when something calls it, or when you press a button. Each run has its own sandbox, a log and a
        history. For a form that other people fill in, make an <Link to={paths.newAutomation}>automation</Link>.{' '}
        <Link to={paths.create}>Compare both</Link>
      </Text>
      <Columns widths="minmax(0, 5fr) minmax(0, 7fr)">
        <Stack gap="lg">
          <Panel title="Begin with a template">
            <Stack gap="md" align="flex-start">
              <p>
                Templates are small and complete: a report every morning, a webhook that answers, a step that waits for
                a person.
              </p>
              <ol className={styles.steps}>
                <li>Choose a template</li>
                <li>Change its name and its code, or leave them</li>
                <li>Run it, and give it a schedule</li>
              </ol>
              <LinkButton to={paths.newWorker}>Choose a template</LinkButton>
            </Stack>
          </Panel>
          <StartChatPanel />
          <Panel title="Start with your own agent">
            <Stack gap="md" align="flex-start">
              <p>{CONNECT_INSTRUCTIONS}</p>
              <ConnectAgentPanel />
            </Stack>
          </Panel>
        </Stack>
        <Panel title="Start with your code">
          <Stack gap="md" align="flex-start">
            <p>
              <Link to={paths.tokens}>Make a token</Link>, put it into the first line, and paste the lines into a shell.
              This page shows the worker as soon as it is there.
            </p>
            {baseUrl && (
              <>
                <CopyableCode label="Make a worker" code={buildCreateCommand(baseUrl, workspaceId)} />
                <CopyableCode label="Run it" code={buildRunCommand(baseUrl, workspaceId)} />
              </>
            )}
          </Stack>
        </Panel>
      </Columns>
    </Stack>
  );
}

const buildHeaderLines = (workspaceId: string) => `  -H "Authorization: Bearer $GANTRY_TOKEN" \\
  -H "x-svc-workspace: ${workspaceId}" \\
  -H "Content-Type: application/json" \\`;

const buildCreateCommand = (baseUrl: string, workspaceId: string) => `export GANTRY_TOKEN=

curl ${baseUrl}/api/workers \\
${buildHeaderLines(workspaceId)}
  -d '{
  "name": "Word count",
  "inputs": ["text"],
  "files": [{
    "path": "main.py",
    "content": "def run(text):\\n  return {\\"words\\": len(text.split())}"
  }]
}'`;

const buildRunCommand = (baseUrl: string, workspaceId: string) => `curl ${baseUrl}/api/workers/word-count/runs \\
${buildHeaderLines(workspaceId)}
  -d '{"inputs": {"text": "to be or not to be"}}'`;
