import { Stack, Text } from '@mantine/core';
import { DiffView } from '../code/diff-view';
import table from '../ui/data-table.module.css';
import { isJsonObject, type JsonObject } from '../ui/json';
import { formatNetworkRule, type NetworkRule } from './network-labels';

interface FieldChange {
  field: string;
  before?: unknown;
  after?: unknown;
}

const FIELD_LABELS: Record<string, string> = {
  runner: 'Runner',
  entrypoint: 'Entrypoint',
  inputs: 'Inputs',
  outputs: 'Outputs',
  secrets: 'Secrets',
  connections: 'Connections',
  contexts: 'Contexts',
  python_dependencies: 'Python packages',
  isolation: 'Isolation',
  network: 'Network',
  expose: 'Exposed values',
  in_body: 'Placeholders in request bodies',
  skill: 'Skill',
  skills: 'Skills loaded on demand',
  model: 'Model',
  tools: 'Tools',
  temperature: 'Temperature',
  reasoning: 'Reasoning effort',
  tool_choice: 'Tool choice',
  max_turns: 'Maximum turns',
  budget_usd: 'Budget per run (USD)',
  output: 'Result',
  on_failure: 'Automatic repair',
  'limits.timeout_seconds': 'Timeout (s)',
  'limits.memory_mb': 'Memory (MB)',
  'limits.concurrency': 'Concurrent runs',
  'limits.concurrency_key': 'Concurrency scope',
  'limits.priority': 'Priority',
  'limits.runs_per_minute': 'Runs per minute',
  'limits.budget_usd_per_month': 'Monthly budget (USD)',
  'retry.max_attempts': 'Maximum attempts',
  'retry.backoff_seconds': 'Delay before first retry (s)',
  'retry.backoff': 'Backoff',
  'retry.max_backoff_seconds': 'Maximum delay (s)',
  'approvals.required': 'Require approval for each run',
  'approvals.forbid_self': 'Prevent self-approval',
  'approvals.expires_in_seconds': 'Approvals expire after (s)',
  'approvals.public_links': 'Approval via review link',
};

/** Shows changes of plain values in a table, and of lists as diffs. */
export function SettingChanges({ changes }: { changes: FieldChange[] }) {
  const all = changes.flatMap(expandChange);
  const plain = all.filter(({ before, after }) => isPlain(before) && isPlain(after));
  const lists = all.filter((change) => !plain.includes(change));
  if (all.length === 0)
    return (
      <Text fz="sm" c="dimmed">
        The settings are identical.
      </Text>
    );
  return (
    <>
      {plain.length > 0 && (
        <div className={table.scroll}>
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Before</th>
                <th scope="col">After</th>
              </tr>
            </thead>
            <tbody>
              {plain.map(({ field, before, after }) => (
                <tr key={field}>
                  <td>{FIELD_LABELS[field] ?? field}</td>
                  <td>{formatValue(before)}</td>
                  <td>{formatValue(after)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {lists.map(({ field, before, after }) => (
        <Stack key={field} gap="sm">
          <h3>{FIELD_LABELS[field] ?? field}</h3>
          <DiffView
            label={`Changes to ${FIELD_LABELS[field] ?? field}`}
            path={`${field}.json`}
            before={formatJson(before)}
            after={formatJson(after)}
          />
        </Stack>
      ))}
    </>
  );
}

/** Splits `limits`, `retry` and `approvals` into the keys that differ. */
function expandChange({ field, before, after }: FieldChange): FieldChange[] {
  if (field === 'network') return [{ field, before: toNetworkLabel(before), after: toNetworkLabel(after) }];
  // A schema is read as a whole.
  if (field === 'output' || !isJsonObject(after) || !(isJsonObject(before) || before == null))
    return [{ field, before, after }];
  const old: JsonObject = before ?? {};
  return [...new Set([...Object.keys(old), ...Object.keys(after)])].flatMap((key) =>
    JSON.stringify(old[key]) === JSON.stringify(after[key])
      ? []
      : [{ field: `${field}.${key}`, before: old[key], after: after[key] }],
  );
}

/** Versions older than network rules have none. */
const toNetworkLabel = (rule: unknown): unknown => rule && formatNetworkRule(rule as NetworkRule);

/** Lists of names count as plain. */
const isPlain = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((one) => typeof one === 'string') : typeof value !== 'object' || value === null;

function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'None';
  if (Array.isArray(value)) return value.length ? value.join(', ') : 'None';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return String(value);
}

const formatJson = (value: unknown): string => (value == null ? '' : JSON.stringify(value, null, 2));
