import { NativeSelect } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { getFormText } from '../../ui/form-text';
import { NumberFields, type NumberSetting, parseNumbers } from './number-fields';
import { SettingsForm } from './settings-form';

type Limit = NumberSetting<Worker['limits']>;

const ATTEMPT_LIMITS: Limit[] = [
  {
    name: 'timeout_seconds',
    label: 'Timeout',
    description: 'Seconds per attempt, excluding wait time',
    min: 1,
    max: 3_600,
  },
  { name: 'memory_mb', label: 'Memory', description: 'MB, from 64 to 2,048', min: 64, max: 2_048 },
  {
    name: 'concurrency',
    label: 'Concurrent runs',
    description: 'Additional runs are queued',
    min: 1,
    max: 100,
    emptyLabel: 'No limit',
  },
];

const QUEUE_LIMITS: Limit[] = [
  {
    name: 'runs_per_minute',
    label: 'Runs per minute',
    description: 'Additional runs are rejected',
    min: 1,
    max: 6_000,
    emptyLabel: 'No limit',
  },
  {
    name: 'budget_usd_per_month',
    label: 'Monthly budget',
    description: 'US dollars; no new runs start once the budget is spent',
    min: 0,
    max: 1_000_000,
    step: 'any',
    emptyLabel: 'No limit',
  },
  {
    name: 'priority',
    label: 'Priority',
    description: 'From −100 to 100; highest first',
    min: -100,
    max: 100,
  },
];

export function LimitsForm({ worker }: { worker: Worker }) {
  const { limits } = worker;
  return (
    <SettingsForm
      worker={worker}
      title="Limits"
      about="Runs that exceed the timeout or memory limit are stopped. Other limits queue or reject new runs."
      parseForm={(formData) => ({
        limits: {
          ...parseNumbers(formData, [...ATTEMPT_LIMITS, ...QUEUE_LIMITS]),
          concurrency_key: getFormText(formData, 'concurrency_key') || null,
        },
      })}
    >
      <NumberFields settings={ATTEMPT_LIMITS} values={limits} />
      <NativeSelect
        name="concurrency_key"
        label="Concurrency scope"
        description="Apply the limit to all runs together or to each input value separately"
        defaultValue={limits.concurrency_key ?? ''}
        data={[{ value: '', label: 'All runs' }, ...buildConcurrencyKeyOptions(worker)]}
      />
      <NumberFields settings={QUEUE_LIMITS} values={limits} />
    </SettingsForm>
  );
}

const buildConcurrencyKeyOptions = ({ inputs, limits: { concurrency_key: key } }: Worker) => {
  const names = inputs.map(({ name }) => name);
  return [...new Set(key ? [...names, key] : names)].map((name) => ({ value: name, label: `Per ${name}` }));
};
