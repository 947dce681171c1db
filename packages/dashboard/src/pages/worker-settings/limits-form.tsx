import { NativeSelect } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { getText } from '../../ui/form-text';
import { NumberField } from './number-field';
import { getNumber, getNumberOrNull, SettingsForm } from './settings-form';

export function LimitsForm({ worker }: { worker: Worker }) {
  const { limits } = worker;
  return (
    <SettingsForm
      worker={worker}
      title="Limits"
      about="A run that reaches one of the first two ends; the others hold runs back or refuse them."
      parseForm={(formData) => ({
        limits: {
          timeout_seconds: getNumber(formData, 'timeout_seconds'),
          memory_mb: getNumber(formData, 'memory_mb'),
          concurrency: getNumberOrNull(formData, 'concurrency'),
          concurrency_key: getText(formData, 'concurrency_key') || null,
          runs_per_minute: getNumberOrNull(formData, 'runs_per_minute'),
          budget_usd_per_month: getNumberOrNull(formData, 'budget_usd_per_month'),
          priority: getNumber(formData, 'priority'),
        },
      })}
    >
      <NumberField
        name="timeout_seconds"
        label="Time"
        description="Seconds for each attempt; waiting does not count"
        value={limits.timeout_seconds}
        min={1}
        max={3_600}
      />
      <NumberField
        name="memory_mb"
        label="Memory"
        description="MB, from 64 to 2,048"
        value={limits.memory_mb}
        min={64}
        max={2_048}
      />
      <NumberField
        name="concurrency"
        label="Runs at once"
        description="The others wait in the queue"
        value={limits.concurrency}
        min={1}
        max={100}
        emptyLabel="No limit"
      />
      <NativeSelect
        name="concurrency_key"
        label="Counted for"
        description="Runs with the same value of an input"
        defaultValue={limits.concurrency_key ?? ''}
        data={[{ value: '', label: 'All of its runs' }, ...listConcurrencyKeys(worker)]}
      />
      <NumberField
        name="runs_per_minute"
        label="Runs per minute"
        description="More than these are refused"
        value={limits.runs_per_minute}
        min={1}
        max={6_000}
        emptyLabel="No limit"
      />
      <NumberField
        name="budget_usd_per_month"
        label="Budget"
        description="US dollars a month; then no run starts"
        value={limits.budget_usd_per_month}
        min={0}
        max={1_000_000}
        step="any"
        emptyLabel="No limit"
      />
      <NumberField
        name="priority"
        label="Priority"
        description="−100 to 100; higher leaves the queue first"
        value={limits.priority}
        min={-100}
        max={100}
      />
    </SettingsForm>
  );
}

const listConcurrencyKeys = ({ inputs, limits: { concurrency_key: key } }: Worker) => {
  const names = inputs.map(({ name }) => name);
  return [...new Set(key ? [...names, key] : names)].map((name) => ({ value: name, label: `Each ${name}` }));
};
