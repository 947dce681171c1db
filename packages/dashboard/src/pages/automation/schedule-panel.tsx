import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useUpdateAutomation } from '../../automations/use-update-automation';
import { describeSchedule } from '../../schedules/describe-cron';
import { getLocalTimeZone } from '../../schedules/schedule-fields';
import type { Automation } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { type Detail, DetailList } from '../../ui/detail-list';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { ScheduleForm } from './schedule-form';

/** Describes the schedule, and edits it in place. */
export function SchedulePanel({ automation, canEdit }: { automation: Automation; canEdit: boolean }) {
  const { id, schedule, scheduling } = automation;
  const [isEditing, setEditing] = useState(false);
  const change = useUpdateAutomation(id);
  const { enabled, timezone } = scheduling;

  const setEnabled = (isEnabled: boolean, canUndo: boolean) =>
    change.mutate(
      { scheduleEnabled: isEnabled },
      {
        onSuccess: () =>
          toast(isEnabled ? 'Schedule turned on' : 'Schedule turned off', {
            ...(canUndo && { undo: () => setEnabled(!isEnabled, false) }),
          }),
      },
    );

  if (isEditing) {
    return (
      <Panel title="Schedule">
        <ScheduleForm
          automation={automation}
          initialSchedule={{ cron: schedule ?? '0 9 * * MON-FRI', timezone: schedule ? timezone : getLocalTimeZone() }}
          onClose={() => setEditing(false)}
        />
      </Panel>
    );
  }
  return (
    <Panel title="Schedule">
      <Stack gap="md">
        {schedule === null ? (
          <Text maw="60ch" c="dimmed" fz="sm">
            No schedule. This automation runs only when started manually or through the API.
          </Text>
        ) : (
          <DetailList details={listScheduleDetails(automation, schedule)} />
        )}
        <ErrorNotice title="Changes not saved" error={change.error} />
        {canEdit && (
          <Group gap="8px 12px">
            <Button variant={schedule ? 'default' : undefined} onClick={() => setEditing(true)}>
              {schedule ? 'Change' : 'Add a schedule'}
            </Button>
            {schedule !== null && (
              <>
                <Button variant="default" loading={change.isPending} onClick={() => setEnabled(!enabled, true)}>
                  {enabled ? 'Turn off' : 'Turn on'}
                </Button>
                <ConfirmButton label="Remove schedule" question="Remove now" {...toAction(change, { schedule: null })}>
                  Remove
                </ConfirmButton>
              </>
            )}
          </Group>
        )}
      </Stack>
    </Panel>
  );
}

const MISFIRE_LABELS: Record<Automation['scheduling']['misfire'], string> = {
  skip: 'Skipped',
  fire_once: 'Combined into one run',
  catch_up: 'Run individually, up to 100',
};

function listScheduleDetails({ status, scheduling }: Automation, schedule: string): Detail[] {
  const { enabled, timezone, misfire, inputs, nextRunAt, lastScheduledAt, missedFires } = scheduling;
  const description = describeSchedule({ cron: schedule, timezone });
  const inputLines = Object.entries(inputs).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [
    ['Runs', description.charAt(0).toUpperCase() + description.slice(1)],
    ['Next run', nextRunAt === null ? getIdleReason(enabled, status) : <Timestamp key="next" at={nextRunAt} />],
    ['Last scheduled run', lastScheduledAt !== null && <Timestamp key="last" at={lastScheduledAt} />],
    ['Inputs', inputLines.length > 0 ? inputLines.join('\n') : 'Defaults from the code'],
    ['Runs missed during downtime', MISFIRE_LABELS[misfire]],
    ['Missed runs', missedFires > 0 && missedFires],
  ];
}

function getIdleReason(enabled: boolean, status: Automation['status']): string {
  if (!enabled) return 'None (schedule is off)';
  return status === 'active' ? 'None' : `None while the automation is ${status}`;
}
