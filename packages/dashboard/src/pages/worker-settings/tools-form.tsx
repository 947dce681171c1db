import { Button, NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import type { Worker } from '../../shell/api';
import { bindChoice } from '../../ui/bind';
import { BUILT_IN_TOOLS, canRequireApproval, formatToolLabel, parseTool } from '../../workers/agent-tools';
import { canEditWorker } from '../../workers/can-edit-worker';
import { AddToolFields } from './add-tool-fields';
import { type FieldProblem, useSettingsEditor } from './settings-editor';
import { SettingsForm } from './settings-form';
import styles from './tools-form.module.css';

type Tool = Worker['tools'][number];
type ApprovalRule = Tool['approve'];

const APPROVAL_RULE_OPTIONS: { value: ApprovalRule; label: string }[] = [
  { value: 'destructive', label: 'For destructive calls' },
  { value: 'always', label: 'For all calls' },
  { value: 'never', label: 'Never' },
];

/** Selects the tools that an agent can call, and which calls need an approval. */
export function ToolsForm({ worker }: { worker: Worker }) {
  const { problems } = useSettingsEditor();
  const [tools, setTools] = useState<Tool[]>(worker.tools);
  const [connections, setConnections] = useState(worker.connections);
  const isEditable = canEditWorker(worker);

  function add(tool: string, connection: string | null) {
    setTools([...tools, { tool, approve: 'destructive' }]);
    if (connection !== null && !connections.includes(connection)) setConnections([...connections, connection]);
  }
  const setRule = (position: number, approve: ApprovalRule) =>
    setTools(tools.map((one, index) => (index === position ? { ...one, approve } : one)));

  return (
    <SettingsForm
      worker={worker}
      title="Tools"
      about="The agent can only call these tools. Approvers see a call’s exact arguments before they decide."
      isShownInline={(path) => /^tools\.\d{1,3}$/.test(path)}
      parseForm={() => ({ tools, ...declareDependencies(tools, connections, worker) })}
    >
      {tools.length > 0 ? (
        <ul className="divided rows full-row" aria-label="Tools">
          {tools.map((tool, position) => (
            <ToolRow
              key={tool.tool}
              tool={tool}
              connections={connections}
              problem={findToolProblem(problems, position)}
              onRule={(approve) => setRule(position, approve)}
              onRemove={isEditable ? () => setTools(tools.filter((one) => one !== tool)) : undefined}
            />
          ))}
        </ul>
      ) : (
        <p className="help-text full-row">No tools yet. The agent can only answer.</p>
      )}
      {isEditable && (
        <div className="full-row">
          <AddToolFields worker={worker} existingTools={tools.map(({ tool }) => tool)} onAdd={add} />
        </div>
      )}
    </SettingsForm>
  );
}

const findToolProblem = (problems: readonly FieldProblem[], index: number): string | undefined =>
  problems.find(({ path }) => path === `tools.${index}`)?.message;

/** Declares the connections and contexts of the tools, and keeps the other ones. */
function declareDependencies(tools: readonly Tool[], connections: string[], worker: Worker) {
  const parsedTools = tools.map(({ tool }) => parseTool(tool, connections));
  const contexts = parsedTools.flatMap((one) => (one.kind === 'context' ? [one.name] : []));
  const toolConnections = parsedTools.flatMap((one) => (one.kind === 'connection' ? [one.connection] : []));
  return {
    connections: [...new Set([...worker.connections, ...toolConnections])],
    contexts: [...new Set([...worker.contexts, ...contexts])],
  };
}

interface ToolRowProps {
  tool: Tool;
  connections: readonly string[];
  problem: string | undefined;
  onRule: (approve: ApprovalRule) => void;
  /** Absent for members who cannot edit it. */
  onRemove: (() => void) | undefined;
}

function ToolRow({ tool: { tool, approve }, connections, problem, onRule, onRemove }: ToolRowProps) {
  const name = formatToolLabel(tool, connections);
  const parsedTool = parseTool(tool, connections);
  const about =
    parsedTool.kind in BUILT_IN_TOOLS ? BUILT_IN_TOOLS[parsedTool.kind as keyof typeof BUILT_IN_TOOLS].about : null;
  return (
    <li className={styles.tool}>
      <div className={styles.what}>
        <Text className="wrap-anywhere" fw={640}>
          {name}
        </Text>
        <p className="caption">{about ?? <code>{tool}</code>}</p>
        {problem && (
          <Text fz="xs" c="var(--error)" role="alert">
            This tool {problem}.
          </Text>
        )}
      </div>
      {canRequireApproval(tool) ? (
        <NativeSelect
          label="Require approval"
          aria-label={`Require approval: ${name}`}
          data={APPROVAL_RULE_OPTIONS}
          {...bindChoice(approve, onRule)}
        />
      ) : (
        <span />
      )}
      {onRemove && (
        <Button variant="default" aria-label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </Button>
      )}
    </li>
  );
}
