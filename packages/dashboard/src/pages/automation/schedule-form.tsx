import { Box, NativeSelect, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { useUpdateAutomation } from '../../automations/use-update-automation';
import { toInputProblems } from '../../inputs/input-problems';
import { useInputFields } from '../../inputs/use-input-fields';
import { type Schedule, ScheduleFields } from '../../schedules/schedule-fields';
import type { Automation, InputItem } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { bindChoice } from '../../ui/bind';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
import { LoadErrorNotice, Notice } from '../../ui/notice';
import styles from './automation-settings-page.module.css';
import { useAutomationPage } from './use-automation-page';

type Misfire = Automation['scheduling']['misfire'];

const MISFIRE_OPTIONS: { value: Misfire; label: string }[] = [
  { value: 'fire_once', label: 'Run once for all missed runs' },
  { value: 'skip', label: 'Skip missed runs' },
  { value: 'catch_up', label: 'Start each missed run, up to 100' },
];

interface ScheduleFormProps {
  automation: Automation;
  initialSchedule: Schedule;
  onClose: () => void;
}

export function ScheduleForm(props: ScheduleFormProps) {
  const { data: page, error, refetch } = useAutomationPage(props.automation.id);
  if (error && !page) return <LoadErrorNotice what="The inputs" error={error} retry={refetch} />;
  if (!page) return <Skeleton height={320} />;
  // A schedule cannot have files as inputs.
  return <LoadedScheduleForm {...props} items={page.inputs.filter(({ type }) => type !== 'file')} />;
}

/** Edits the times, and the inputs of the runs that they start. */
function LoadedScheduleForm({
  automation,
  initialSchedule,
  items,
  onClose,
}: ScheduleFormProps & { items: InputItem[] }) {
  const { scheduling } = automation;
  const [schedule, setSchedule] = useState(initialSchedule);
  const [misfire, setMisfire] = useState<Misfire>(scheduling.misfire);
  const hasInputs = Object.keys(scheduling.inputs).length > 0;
  const { fields, problem, show, read } = useInputFields(items, hasInputs ? scheduling.inputs : null);
  const change = useUpdateAutomation(automation.id);

  function submit() {
    const { inputs, problems } = read();
    show(problems);
    if (problems.size) return;
    change.mutate(
      {
        schedule: schedule.cron,
        timezone: schedule.timezone,
        misfire,
        scheduleInputs: inputs,
        scheduleEnabled: automation.schedule === null || scheduling.enabled,
      },
      {
        onSuccess: () => {
          toast('Schedule saved');
          onClose();
        },
        onError: (error) => show(toInputProblems(error, items)),
      },
    );
  }

  return (
    <FormStack onSubmit={handleSubmit(submit)} noValidate>
      <ScheduleFields schedule={schedule} onChange={setSchedule} />
      <NativeSelect label="Runs missed during downtime" data={MISFIRE_OPTIONS} {...bindChoice(misfire, setMisfire)} />
      {items.length > 0 && (
        <Stack
          component="fieldset"
          className={styles.inputs}
          gap="md"
          p="16px 0 0"
          style={{ borderTop: '1px solid var(--line)' }}
        >
          <Box component="legend" fz="sm">
            Inputs for scheduled runs
          </Box>
          {fields}
        </Stack>
      )}
      {problem !== undefined && (
        <Notice tone="error" title="Schedule not saved">
          {problem}
        </Notice>
      )}
      <FormActions submit="Save schedule" isBusy={change.isPending} onCancel={onClose} />
    </FormStack>
  );
}
