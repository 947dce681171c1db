import { Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { CONNECT_INSTRUCTIONS, ConnectAgentPanel, useWorkerBaseUrl } from '../../accounts/connect-agent-panel';
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
  const baseUrl = useWorkerBaseUrl();
  if (!canCreate) {
    return (
      <Text maw="68ch" c="dimmed">
        No runs yet. Runs appear here once a member creates a worker.
      </Text>
    );
  }
  return (
    <Stack gap="lg">
      <Text maw="68ch" c="dimmed">
        No runs yet. A worker is a Python function, or an agent with a task, that runs on a schedule, in response to a
        webhook or event, or on demand. Each run gets its own sandbox, log and history. For a form that others fill in,
        create an <Link to={paths.newAutomation}>automation</Link>.{' '}
        <Link to={paths.create}>Compare workers and automations</Link>
      </Text>
      <Columns widths="minmax(0, 5fr) minmax(0, 7fr)">
        <Stack gap="lg">
          <Panel title="Start with a template">
            <Stack gap="md" align="flex-start">
              <p>
                Templates are small, complete examples, such as a daily report, a webhook with a response, or an
                approval step.
              </p>
              <ol className={styles.steps}>
                <li>Choose a template</li>
                <li>Edit the name and code if needed</li>
                <li>Run it and add a schedule</li>
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
        <Panel title="Start with your own code">
          <Stack gap="md" align="flex-start">
            <p>
              <Link to={paths.tokens}>Create a token</Link>, add it to the first line of the command, and run both
              commands in a shell. The worker appears here once it’s created.
            </p>
            {baseUrl && (
              <>
                <CopyableCode label="Create a worker" code={buildCreateCommand(baseUrl, workspaceId)} />
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
