import { Checkbox, NativeSelect } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { numberIn, SettingsForm } from './settings-form';
import styles from './settings-form.module.css';

const HOUR = 3_600;
const EXPIRIES = [
  [HOUR, 'After an hour'],
  [24 * HOUR, 'After a day'],
  [3 * 24 * HOUR, 'After three days'],
  [7 * 24 * HOUR, 'After a week'],
  [30 * 24 * HOUR, 'After 30 days'],
] as const;

export function ApprovalsForm({ worker: { approvals }, worker }: { worker: Worker }) {
  const expires = approvals.expires_in_seconds ?? 7 * 24 * HOUR;
  const isUsual = EXPIRIES.some(([seconds]) => seconds === expires);
  return (
    <SettingsForm
      worker={worker}
      title="Approvals"
      about={
        worker.runner === 'agent'
          ? 'Its tools may also ask for one, as chosen under Tools.'
          : 'The code itself may also ask for one, with context.approve().'
      }
      read={(given) => ({
        approvals: {
          required: given.has('required'),
          forbid_self: given.has('forbid_self'),
          public_links: given.has('public_links'),
          expires_in_seconds: numberIn(given, 'expires_in_seconds'),
        },
      })}
    >
      <div className={`${styles.wide} ${styles.choices}`}>
        <Checkbox
          name="required"
          label="Each run waits for an approval"
          defaultChecked={approvals.required}
        />
        <Checkbox
          name="forbid_self"
          label="The member who started the run can’t decide"
          defaultChecked={approvals.forbid_self}
        />
        <Checkbox
          name="public_links"
          label="People without an account can decide by a review link"
          defaultChecked={approvals.public_links}
        />
      </div>
      <NativeSelect
        name="expires_in_seconds"
        label="Approvals expire"
        description="The run ends as rejected"
        defaultValue={expires}
        data={[
          ...EXPIRIES.map(([seconds, label]) => ({ value: String(seconds), label: `${label}` })),
          ...(isUsual ? [] : [{ value: String(expires), label: `After ${expires} seconds` }]),
        ]}
      />
    </SettingsForm>
  );
}
