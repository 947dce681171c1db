import { Button, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { type Connection, useConnections, useConnectionTools } from '../../connections/connection-queries';
import { api, type Worker } from '../../shell/api';
import { paths } from '../../shell/paths';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { bindChoice, bindText } from '../../ui/bind';
import { revealHiddenCharacters } from '../../ui/reveal-hidden-characters';
import { BUILT_IN_TOOLS } from '../../workers/agent-tools';
import styles from './tools-form.module.css';

interface AddToolFieldsProps {
  worker: Worker;
  /** The tools that the worker already has. */
  existingTools: readonly string[];
  /** @param connection the connection of the tool */
  onAdd: (tool: string, connection: string | null) => void;
}

type Kind = keyof typeof BUILT_IN_TOOLS | 'connection' | 'worker' | 'context';

const TOOL_KIND_OPTIONS: { value: Kind; label: string }[] = [
  { value: 'connection', label: 'Connection tool' },
  ...Object.entries(BUILT_IN_TOOLS).map(([value, { name }]) => ({ value: value as Kind, label: name })),
  { value: 'worker', label: 'Another worker' },
  { value: 'context', label: 'Context files' },
];

/** Selects a tool by its kind, and adds it. */
export function AddToolFields({ worker, existingTools, onAdd }: AddToolFieldsProps) {
  const [kind, setKind] = useState<Kind>('connection');
  return (
    <fieldset className={styles.add} aria-label="Add a tool">
      <NativeSelect label="Tool type" data={TOOL_KIND_OPTIONS} {...bindChoice(kind, setKind)} />
      {kind === 'connection' ? (
        <ConnectionToolPicker existingTools={existingTools} onAdd={onAdd} />
      ) : kind === 'worker' || kind === 'context' ? (
        <NamedToolPicker key={kind} kind={kind} worker={worker} existingTools={existingTools} onAdd={onAdd} />
      ) : (
        <>
          <AddButton tool={kind} existingTools={existingTools} onAdd={onAdd} />
          <p className="caption full-row">{BUILT_IN_TOOLS[kind].about}</p>
        </>
      )}
    </fieldset>
  );
}

type ToolPickerProps = Pick<AddToolFieldsProps, 'existingTools' | 'onAdd'>;
type AddButtonProps = ToolPickerProps & { tool: string; connection?: string };

function AddButton({ tool, connection, existingTools, onAdd }: AddButtonProps) {
  const isTaken = existingTools.includes(tool);
  return (
    <Button variant="default" disabled={isTaken || tool === ''} onClick={() => onAdd(tool, connection ?? null)}>
      {isTaken ? 'Already added' : 'Add tool'}
    </Button>
  );
}

function ConnectionToolPicker({ existingTools, onAdd }: ToolPickerProps) {
  const { data } = useConnections();
  const [app, setApp] = useState('');
  // Several connections of one service have the same tools; the owner's rights decide which one a worker gets.
  const connections = [...new Map(data?.map((one) => [one.app, one])).values()];
  const selectedConnection = connections.find((one) => one.app === app) ?? connections[0];
  if (!data) return <p className="caption full-row">Loading connections…</p>;
  if (!selectedConnection) {
    return (
      <p className="caption full-row">
        No connections in this workspace yet. <Link to={paths.newConnection}>Connect a service</Link>
      </p>
    );
  }
  return (
    <>
      <NativeSelect
        label="Connection"
        {...bindText(selectedConnection.app, setApp)}
        data={connections.map((one) => ({ value: one.app, label: one.app }))}
      />
      <ConnectionToolFields
        key={selectedConnection.id}
        connection={selectedConnection}
        existingTools={existingTools}
        onAdd={onAdd}
      />
    </>
  );
}

const ALL_TOOLS = '*';

type ConnectionToolFieldsProps = ToolPickerProps & { connection: Connection };

function ConnectionToolFields({ connection: { id, app }, existingTools, onAdd }: ConnectionToolFieldsProps) {
  const { data, error } = useConnectionTools(id);
  const [name, setName] = useState(ALL_TOOLS);
  const tools = data?.filter(({ allowed }) => allowed !== false) ?? [];
  const about = tools.find((one) => one.name === name)?.description;
  const tool = `${app}.${name}`;
  return (
    <>
      <NativeSelect
        label="Tool"
        {...bindText(name, setName)}
        data={[
          { value: ALL_TOOLS, label: data ? `All tools (${tools.length})` : 'All tools' },
          ...tools.map((one) => ({ value: one.name, label: one.name.replaceAll('_', ' ') })),
        ]}
      />
      <AddButton tool={tool} connection={app} existingTools={existingTools} onAdd={onAdd} />
      {error ? (
        <p className="caption full-row" role="alert">
          Tools could not be loaded: {error.message}
        </p>
      ) : (
        about && <p className="caption full-row">{revealHiddenCharacters(about)}</p>
      )}
    </>
  );
}

const LISTED_MAX = 200;
const RESOURCE_LABELS = {
  worker: { label: 'Worker', none: 'No other workers in this workspace.' },
  context: { label: 'Context', none: 'No contexts in this workspace.' },
};

type NamedToolPickerProps = ToolPickerProps & { kind: 'worker' | 'context'; worker: Worker };

function NamedToolPicker({ kind, worker, existingTools, onAdd }: NamedToolPickerProps) {
  const [name, setName] = useState('');
  const { data: loadedNames } = useWorkspaceQuery(
    (workspaceId) => [`${kind}s`, workspaceId, 'tools'],
    async () => {
      const params = { query: { limit: LISTED_MAX } };
      if (kind === 'context') return (await api.worker.GET('/api/contexts', { params })).map((one) => one.name);
      return (await api.worker.GET('/api/workers', { params })).map(({ id }) => id);
    },
  );
  const names = loadedNames?.filter((one) => kind === 'context' || one !== worker.id);
  const selectedName = names?.includes(name) ? name : (names?.[0] ?? '');
  const tool = selectedName && `${kind}:${selectedName}`;
  if (!names) return <p className="caption full-row">Loading…</p>;
  if (names.length === 0) return <p className="caption full-row">{RESOURCE_LABELS[kind].none}</p>;
  return (
    <>
      <NativeSelect label={RESOURCE_LABELS[kind].label} {...bindText(selectedName, setName)} data={names} />
      <AddButton tool={tool} existingTools={existingTools} onAdd={onAdd} />
    </>
  );
}
