import { Button, Group, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import {
  type Connection,
  type ConnectionTool,
  useConnectionMutations,
  useConnectionTools,
} from '../../connections/connection-queries';
import { ToolList } from '../../connections/tool-list';
import { ToolsPanel } from '../../connections/tools-panel';
import { toast } from '../../shell/toasts';
import { ErrorNotice, Notice } from '../../ui/notice';
import styles from './connection-page.module.css';

interface ConnectionToolsProps {
  connection: Connection;
  /** The name of its service. */
  service: string;
}

export function ConnectionTools({ connection, service }: ConnectionToolsProps) {
  const { id, kind } = connection;
  const query = useConnectionTools(id);
  const { change } = useConnectionMutations();
  const isServer = kind === 'mcp';
  return (
    <ToolsPanel
      query={query}
      none={
        isServer
          ? 'The server has no tools.'
          : `The catalog has no tools for ${service}. Call the ${service} API directly from code.`
      }
    >
      {(tools) =>
        isServer ? (
          // Remounts when another member saves the list, and drops the unsaved selection.
          <ServerTools
            key={JSON.stringify(connection.allowed_tools)}
            connection={connection}
            tools={tools}
            change={change}
          />
        ) : (
          <ToolList tools={tools} isForeign={false} />
        )
      }
    </ToolsPanel>
  );
}

interface ServerToolsProps {
  connection: Connection;
  tools: readonly ConnectionTool[];
  change: ReturnType<typeof useConnectionMutations>['change'];
}

/** Selects tools of an MCP server. Their descriptions are untrusted. */
function ServerTools({ connection, tools, change }: ServerToolsProps) {
  const { id, allowed_tools: saved, permissions } = connection;
  const [isRestricted, setRestricted] = useState(saved !== null);
  const allNames = tools.map(({ name }) => name);
  const [selectedTools, setChosen] = useState<ReadonlySet<string>>(() => new Set(saved ?? allNames));
  const changed = tools.filter((tool) => tool.changed);
  const isUnchanged = isRestricted === (saved !== null) && (!isRestricted || hasSameNames(selectedTools, saved ?? []));

  function save(allowed: string[] | null, message: string) {
    change.mutate({ id, allowed_tools: allowed }, { onSuccess: () => toast(message) });
  }
  function reset() {
    change.reset();
    setRestricted(saved !== null);
    setChosen(new Set(saved ?? allNames));
  }

  return (
    <>
      {changed.length > 0 && (
        <Notice
          tone="error"
          title={
            changed.length === 1 && changed[0]
              ? `The description of ${changed[0].name} changed`
              : `${changed.length} tool descriptions changed`
          }
          action={
            permissions.edit && (
              <Button
                variant="default"
                loading={change.isPending}
                onClick={() => save(saved, 'New descriptions accepted')}
              >
                Accept new descriptions
              </Button>
            )
          }
        >
          The server has changed tool descriptions or arguments since they were first loaded. Agents act on tool
          descriptions, so review the changes before accepting them.
        </Notice>
      )}
      <p className="help-text">
        Descriptions are shown exactly as the server sends them, except that invisible characters are escaped.
      </p>
      {permissions.edit ? (
        <Group gap="sm" align="flex-end">
          <NativeSelect
            flex="1 1 16rem"
            label="Workers can call"
            value={isRestricted ? 'each' : 'all'}
            onChange={(event) => setRestricted(event.currentTarget.value === 'each')}
            data={[
              { value: 'all', label: 'All tools, including future ones' },
              { value: 'each', label: 'Only selected tools' },
            ]}
          />
          {isRestricted && (
            <Group gap="xs">
              <Button variant="default" onClick={() => setChosen(new Set(allNames))}>
                Select all
              </Button>
              <Button variant="default" onClick={() => setChosen(new Set())}>
                Clear selection
              </Button>
            </Group>
          )}
        </Group>
      ) : (
        <p className="help-text">
          {saved === null
            ? 'Workers can call all tools.'
            : `Workers can call ${tools.filter(({ allowed }) => allowed).length} of ${tools.length} tools.`}
        </p>
      )}
      <ToolList
        tools={tools}
        isForeign
        {...(isRestricted &&
          permissions.edit && {
            choice: {
              chosen: selectedTools,
              onChange: (name, isChosen) => {
                const next = new Set(selectedTools);
                if (isChosen) next.add(name);
                else next.delete(name);
                setChosen(next);
              },
            },
          })}
      />
      <ErrorNotice title="Changes not saved" error={change.error} />
      {!isUnchanged && (
        <Group className={styles.save} gap="8px 16px" justify="space-between" fz="sm">
          <span>
            {isRestricted ? `${selectedTools.size} of ${tools.length} selected` : 'All tools, including future ones'}
          </span>
          <Group gap="xs">
            <Button variant="default" onClick={reset}>
              Cancel
            </Button>
            <Button
              loading={change.isPending}
              onClick={() => save(isRestricted ? [...selectedTools] : null, 'Allowed tools saved')}
            >
              Save
            </Button>
          </Group>
        </Group>
      )}
    </>
  );
}

const hasSameNames = (selectedNames: ReadonlySet<string>, savedNames: readonly string[]): boolean =>
  selectedNames.size === savedNames.length && savedNames.every((name) => selectedNames.has(name));
