import { NativeSelect } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { NumberFields, type NumberSetting, parseNumbers } from './number-fields';
import { SettingsForm } from './settings-form';

type RetrySetting = NumberSetting<Worker['retry']>;

const LEADING_RETRY_SETTINGS: RetrySetting[] = [
  {
    name: 'max_attempts',
    label: 'Maximum attempts',
    description: 'Includes the first attempt. Set to 1 to disable retries',
    min: 1,
    max: 20,
  },
  {
    name: 'backoff_seconds',
    label: 'Delay before first retry',
    description: 'Seconds',
    min: 0,
    max: 86_400,
    step: 'any',
  },
];

const TRAILING_RETRY_SETTINGS: RetrySetting[] = [
  { name: 'max_backoff_seconds', label: 'Maximum delay', description: 'Seconds', min: 1, max: 86_400, step: 'any' },
];

export function RetryForm({ worker: { retry }, worker }: { worker: Worker }) {
  return (
    <SettingsForm
      worker={worker}
      title="Retries"
      about="Failed and timed-out runs are retried. Completed steps are not repeated."
      parseForm={(formData) => ({
        retry: {
          ...parseNumbers(formData, [...LEADING_RETRY_SETTINGS, ...TRAILING_RETRY_SETTINGS]),
          backoff: formData.get('backoff') === 'fixed' ? 'fixed' : 'exponential',
        },
      })}
    >
      <NumberFields settings={LEADING_RETRY_SETTINGS} values={retry} />
      <NativeSelect
        name="backoff"
        label="Backoff"
        description="How the delay changes after each retry"
        defaultValue={retry.backoff}
        data={[
          { value: 'exponential', label: 'Exponential' },
          { value: 'fixed', label: 'Fixed' },
        ]}
      />
      <NumberFields settings={TRAILING_RETRY_SETTINGS} values={retry} />
    </SettingsForm>
  );
}
