import { Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { LoadErrorNotice } from '../ui/notice';
import { Panel } from '../ui/panel';

interface ToolsPanelProps<Tool> {
  query: { data: Tool[] | undefined; error: Error | null; refetch: () => void };
  /** Shown if there are no tools. */
  none: string;
  children: (tools: Tool[]) => ReactNode;
}

/** Frames the tools of a service or a connection, with their number. */
export function ToolsPanel<Tool>({ query: { data: tools, error, refetch }, none, children }: ToolsPanelProps<Tool>) {
  return (
    <Panel
      title="Tools"
      aside={
        !!tools?.length && (
          <Text span fz="sm" c="dimmed">
            {tools.length}
          </Text>
        )
      }
    >
      {error && !tools ? (
        <LoadErrorNotice what="The tools" error={error} retry={refetch} />
      ) : !tools ? (
        <Skeleton height={240} radius={10} />
      ) : tools.length === 0 ? (
        <p className="help-text">{none}</p>
      ) : (
        children(tools)
      )}
    </Panel>
  );
}
