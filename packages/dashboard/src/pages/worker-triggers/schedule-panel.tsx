import { Box, Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { describeSchedule } from '../../schedules/describe-cron';
import { NextFires } from '../../schedules/next-fires';
import { getLocalTimeZone } from '../../schedules/schedule-fields';
import type { Trigger, Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { type Detail, DetailList } from '../../ui/detail-list';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { canEditWorker } from '../../workers/can-edit-worker';
import { useUpdateWorker } from '../../workers/use-update-worker';
import { MISFIRE_LABELS, ScheduleForm } from './schedule-form';
import { findTrigger, replaceTriggers } from './trigger-list';

const DEFAULT_TRIGGER: Trigger = { type: 'cron', cron: '0 9 * * MON-FRI', misfire: 'fire_once', inputs: {} };

export function SchedulePanel({ worker }: { worker: Worker }) {
  const [isEditing, setEditing] = useState(false);
  const trigger = findTrigger(worker, 'cron');
  const canEdit = canEditWorker(worker);
  return (
    <Panel
      title="Schedule"
      aside={
        canEdit &&
        !isEditing && (
          <Button variant="default" onClick={() => setEditing(true)}>
            {trigger ? 'Edit schedule' : 'Add schedule'}
          </Button>
        )
      }
    >
      {isEditing ? (
        <ScheduleForm
          worker={worker}
          trigger={trigger ?? { ...DEFAULT_TRIGGER, timezone: getLocalTimeZone() }}
          onClose={() => setEditing(false)}
        />
      ) : trigger ? (
        <ScheduleDetails worker={worker} trigger={trigger} canEdit={canEdit} />
      ) : (
        <p className="help-text">No schedule. Add one to run this worker at set times.</p>
      )}
    </Panel>
  );
}

function ScheduleDetails({ worker, trigger, canEdit }: { worker: Worker; trigger: Trigger; canEdit: boolean }) {
  const { cron = '', timezone = 'UTC', misfire = 'fire_once', inputs = {}, missed_fires: missedCount = 0 } = trigger;
  const description = describeSchedule({ cron, timezone });
  const remove = useUpdateWorker(worker.id, () => toast('Schedule removed'));
  const details: Detail[] = [
    ['Runs', description.charAt(0).toUpperCase() + description.slice(1)],
    ['Cron expression', <code key="cron">{cron}</code>],
    [
      'Last started',
      trigger.last_scheduled_at ? <Timestamp key="at" at={Date.parse(trigger.last_scheduled_at)} /> : 'Never',
    ],
    ['Missed runs', missedCount === 0 ? 'None' : missedCount],
    ['When runs are missed', MISFIRE_LABELS[misfire]],
    ['Inputs', Object.keys(inputs).length > 0 && JSON.stringify(inputs, null, 2)],
  ];
  return (
    <Stack gap="md">
      {worker.status === 'paused' && (
        <Notice tone="info">This worker is paused. Runs skipped while it’s paused don’t count as missed.</Notice>
      )}
      <Box
        className="auto-fit"
        __vars={{ '--column': '22rem' }}
        style={{ gap: 'var(--space-5) var(--space-6)', alignItems: 'start' }}
      >
        <DetailList details={details} />
        <NextFires cron={cron} timezone={timezone} />
      </Box>
      {missedCount > 0 && (
        <p className="help-text">
          Runs are missed when Gantry is down or busy, or when an internal error prevents a run from starting. To be
          notified, create an alert.
        </p>
      )}
      <ErrorNotice title="Schedule not removed" error={remove.error} />
      {canEdit && (
        <Group gap="xs" align="stretch">
          <ConfirmButton
            label="Remove schedule"
            question="Remove now"
            {...toAction(remove, replaceTriggers(worker, 'cron', []))}
          >
            Remove schedule
          </ConfirmButton>
        </Group>
      )}
    </Stack>
  );
}
