import { Box, Text } from '@mantine/core';
import { Link } from 'react-router';
import { type Connection, useConnections } from '../../connections/connection-queries';
import { MissingModelNotice } from '../../models/missing-model-notice';
import { connectionPath, newConnectionPath } from '../../shell/paths';
import { formatDollars } from '../../ui/format';
import { Notice } from '../../ui/notice';
import { formatToolLabel } from '../../workers/agent-tools';
import type { WorkerTemplate } from '../../workers/templates/template';

/** Lists an agent's tools and limits, and the connections and models that are missing. */
export function AgentRequirements({ template }: { template: WorkerTemplate }) {
  const { tools = [], connections = [], max_turns: turns, budget_usd: budget } = template;
  const limits = [
    ...(typeof turns === 'number' ? [`${turns} turns`] : []),
    ...(typeof budget === 'number' ? [formatDollars(budget)] : []),
  ];
  const { data: connectionList } = useConnections();
  const missing = connectionList
    ? connections.filter((app) => !connectionList.some((one) => one.app === app && isWorkspaceWide(one)))
    : [];
  return (
    <>
      <div>
        <h3>Allowed tools</h3>
        <Box component="ul" mt={4} fz="sm" c="dimmed">
          {tools.map((tool) => (
            <li key={String(tool)}>{formatToolLabel(String(tool))}</li>
          ))}
        </Box>
        <Text mt="xs" fz="sm" c="dimmed">
          The agent can’t use any other tools
          {limits.length > 0 && `, and each run is limited to ${limits.join(' and ')}`}.
        </Text>
      </div>
      <MissingModelNotice />
      {missing.map((app) => (
        <MissingConnectionNotice key={app} app={app} own={connectionList?.find((one) => one.app === app)} />
      ))}
    </>
  );
}

/** Returns whether a new worker, which is visible to the whole workspace, can use the connection. */
const isWorkspaceWide = ({ visibility }: Connection): boolean => visibility === 'workspace';

/** @param privateConnection a private connection of the member to this service, if any */
const MissingConnectionNotice = ({ app, own: privateConnection }: { app: string; own: Connection | undefined }) => (
  <Notice
    tone="info"
    title={privateConnection ? `Your ${app} connection is private` : `${app} is not connected yet`}
    action={
      <Link to={privateConnection ? connectionPath(privateConnection.id) : newConnectionPath(app)}>
        {privateConnection ? 'Share connection' : `Connect ${app}`}
      </Link>
    }
  >
    You can create the worker now, but its runs will fail until{' '}
    {privateConnection ? 'you share the connection or make the worker private' : `${app} is connected`}.
  </Notice>
);
