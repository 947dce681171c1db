import { Checkbox, NativeSelect, Stack } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { SettingsForm } from './settings-form';

const HOUR_SECONDS = 3_600;
const EXPIRY_OPTIONS = [
  [HOUR_SECONDS, 'After an hour'],
  [24 * HOUR_SECONDS, 'After a day'],
  [3 * 24 * HOUR_SECONDS, 'After three days'],
  [7 * 24 * HOUR_SECONDS, 'After a week'],
  [30 * 24 * HOUR_SECONDS, 'After 30 days'],
] as const;

export function ApprovalsForm({ worker: { approvals }, worker }: { worker: Worker }) {
  const expires = approvals.expires_in_seconds ?? 7 * 24 * HOUR_SECONDS;
  const isPreset = EXPIRY_OPTIONS.some(([seconds]) => seconds === expires);
  return (
    <SettingsForm
      worker={worker}
      title="Approvals"
      about={
        worker.runner === 'agent'
          ? 'To require approval for individual tools, use the Tools section.'
          : 'The worker’s code can also request approval with context.approve().'
      }
      parseForm={(formData) => ({
        approvals: {
          required: formData.has('required'),
          forbid_self: formData.has('forbid_self'),
          public_links: formData.has('public_links'),
          expires_in_seconds: Number(formData.get('expires_in_seconds')),
        },
      })}
    >
      <Stack className="full-row" gap="xs">
        <Checkbox name="required" label="Require approval for each run" defaultChecked={approvals.required} />
        <Checkbox name="forbid_self" label="Prevent self-approval" defaultChecked={approvals.forbid_self} />
        <Checkbox
          name="public_links"
          label="Allow approval via a review link (no account required)"
          defaultChecked={approvals.public_links}
        />
      </Stack>
      <NativeSelect
        name="expires_in_seconds"
        label="Approvals expire"
        description="If an approval expires, the run is rejected"
        defaultValue={expires}
        data={[
          ...EXPIRY_OPTIONS.map(([seconds, label]) => ({ value: String(seconds), label: `${label}` })),
          ...(isPreset ? [] : [{ value: String(expires), label: `After ${expires} seconds` }]),
        ]}
      />
    </SettingsForm>
  );
}
