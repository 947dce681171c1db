import { NativeSelect } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { NumberFields, type NumberSetting, parseNumbers } from './number-fields';
import { SettingsForm } from './settings-form';

type RetrySetting = NumberSetting<Worker['retry']>;

const FIRST_RETRY: RetrySetting[] = [
  { name: 'max_attempts', label: 'Attempts', description: 'In total; 1 means no retries', min: 1, max: 20 },
  {
    name: 'backoff_seconds',
    label: 'Wait before the first retry',
    description: 'Seconds',
    min: 0,
    max: 86_400,
    step: 'any',
  },
];

const LAST_RETRY: RetrySetting[] = [
  { name: 'max_backoff_seconds', label: 'Longest wait', description: 'Seconds', min: 1, max: 86_400, step: 'any' },
];

export function RetryForm({ worker: { retry }, worker }: { worker: Worker }) {
  return (
    <SettingsForm
      worker={worker}
      title="Retries"
      about="A run that fails or times out is tried again. Steps that it has completed are not repeated."
      parseForm={(formData) => ({
        retry: {
          ...parseNumbers(formData, [...FIRST_RETRY, ...LAST_RETRY]),
          backoff: formData.get('backoff') === 'fixed' ? 'fixed' : 'exponential',
        },
      })}
    >
      <NumberFields settings={FIRST_RETRY} values={retry} />
      <NativeSelect
        name="backoff"
        label="Wait before later retries"
        description="Compared with the previous wait"
        defaultValue={retry.backoff}
        data={[
          { value: 'exponential', label: 'Twice as long each time' },
          { value: 'fixed', label: 'Always the same' },
        ]}
      />
      <NumberFields settings={LAST_RETRY} values={retry} />
    </SettingsForm>
  );
}
