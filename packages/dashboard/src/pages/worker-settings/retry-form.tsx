import { NativeSelect } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { NumberField } from './number-field';
import { getNumber, SettingsForm } from './settings-form';

export function RetryForm({ worker: { retry }, worker }: { worker: Worker }) {
  return (
    <SettingsForm
      worker={worker}
      title="Retries"
      about="A run that fails or times out is tried again. Steps that it has completed are not repeated."
      parseForm={(formData) => ({
        retry: {
          max_attempts: getNumber(formData, 'max_attempts'),
          backoff: formData.get('backoff') === 'fixed' ? 'fixed' : 'exponential',
          backoff_seconds: getNumber(formData, 'backoff_seconds'),
          max_backoff_seconds: getNumber(formData, 'max_backoff_seconds'),
        },
      })}
    >
      <NumberField
        name="max_attempts"
        label="Attempts"
        description="In all; 1 is no retry"
        value={retry.max_attempts}
        min={1}
        max={20}
      />
      <NumberField
        name="backoff_seconds"
        label="Wait before the first retry"
        description="Seconds"
        value={retry.backoff_seconds}
        min={0}
        max={86_400}
        step="any"
      />
      <NativeSelect
        name="backoff"
        label="Wait before the next ones"
        description="Compared with the one before"
        defaultValue={retry.backoff}
        data={[
          { value: 'exponential', label: 'Twice as long each time' },
          { value: 'fixed', label: 'Always the same' },
        ]}
      />
      <NumberField
        name="max_backoff_seconds"
        label="Longest wait"
        description="Seconds"
        value={retry.max_backoff_seconds}
        min={1}
        max={86_400}
        step="any"
      />
    </SettingsForm>
  );
}
