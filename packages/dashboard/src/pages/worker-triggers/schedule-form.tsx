import { NativeSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { toInputProblems } from '../../inputs/input-problems';
import { useInputFields } from '../../inputs/use-input-fields';
import { ScheduleFields } from '../../schedules/schedule-fields';
import type { InputItem, Trigger, Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { bindChoice } from '../../ui/bind';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { ErrorNotice } from '../../ui/notice';
import { useUpdateWorker } from '../../workers/use-update-worker';
import { replaceTriggers } from './trigger-list';
import styles from './triggers.module.css';

type Misfire = NonNullable<Trigger['misfire']>;

export const MISFIRE_LABELS: Record<Misfire, string> = {
  fire_once: 'Run once for all missed runs',
  catch_up: 'Run once for each missed run, up to 100',
  skip: 'Skip missed runs',
};

interface ScheduleFormProps {
  worker: Worker;
  trigger: Trigger;
  onClose: () => void;
}

export function ScheduleForm({ worker, trigger, onClose }: ScheduleFormProps) {
  const [schedule, setSchedule] = useState({ cron: trigger.cron ?? '', timezone: trigger.timezone ?? 'UTC' });
  const [misfire, setMisfire] = useState<Misfire>(trigger.misfire ?? 'fire_once');
  const items = worker.inputs as InputItem[];
  const { fields, show: showProblems, read: readInputs } = useInputFields(items, trigger.inputs ?? null);
  const change = useUpdateWorker(worker.id, () => {
    toast('Schedule saved');
    onClose();
  });
  function submit() {
    const { inputs, problems } = readInputs();
    showProblems(problems);
    if (problems.size) return;
    const newTrigger: Trigger = { type: 'cron', ...schedule, misfire, inputs: items.length ? inputs : trigger.inputs };
    change.mutate(replaceTriggers(worker, 'cron', [newTrigger]), {
      onError: (error) => {
        const found = toInputProblems(error, items);
        if (!found.has('')) showProblems(found);
      },
    });
  }
  return (
    <FormStack onSubmit={handleSubmit(submit)} noValidate>
      <ScheduleFields schedule={schedule} onChange={setSchedule} />
      <NativeSelect
        maw="26rem"
        label="Missed runs"
        description="How to handle runs missed while the platform is down or busy"
        {...bindChoice(misfire, setMisfire)}
        data={Object.entries(MISFIRE_LABELS).map(([value, label]) => ({ value, label }))}
      />
      {items.length > 0 && (
        <Stack component="fieldset" className={styles.inputs} gap="sm" maw="34rem">
          <legend>Inputs for scheduled runs</legend>
          {fields}
        </Stack>
      )}
      <ErrorNotice title="Schedule not saved" error={change.error} />
      <FormActions submit="Save schedule" isBusy={change.isPending} onCancel={onClose} />
    </FormStack>
  );
}
