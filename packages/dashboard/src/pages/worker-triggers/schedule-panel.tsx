import { Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { scheduleWords } from '../../schedules/cron-words';
import { NextFires } from '../../schedules/next-fires';
import { ownTimeZone } from '../../schedules/schedule-fields';
import type { Trigger, Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ConfirmButton } from '../../ui/confirm-button';
import { Facts } from '../../ui/facts';
import { Failure, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { useChangeWorker } from '../../workers/use-change-worker';
import { MISFIRES, ScheduleForm } from './schedule-form';
import { triggerOf, withTrigger } from './trigger-list';
import styles from './triggers.module.css';

const FIRST: Trigger = { type: 'cron', cron: '0 9 * * MON-FRI', misfire: 'fire_once', inputs: {} };

export function SchedulePanel({ worker }: { worker: Worker }) {
  const [editing, setEditing] = useState(false);
  const trigger = triggerOf(worker, 'cron');
  const mayEdit = worker.permissions.edit && worker.status !== 'archived';
  if (editing) {
    return (
      <Panel title="Schedule">
        <ScheduleForm
          worker={worker}
          trigger={trigger ?? { ...FIRST, timezone: ownTimeZone() }}
          onClose={() => setEditing(false)}
        />
      </Panel>
    );
  }
  return (
    <Panel
      title="Schedule"
      aside={
        mayEdit && (
          <Button variant="default" onClick={() => setEditing(true)}>
            {trigger ? 'Change' : 'Add a schedule'}
          </Button>
        )
      }
    >
      {trigger ? (
        <Shown worker={worker} trigger={trigger} mayEdit={mayEdit} />
      ) : (
        <Text maw="68ch" c="dimmed" fz="sm">
          It has no schedule: it does not run by itself at any time.
        </Text>
      )}
    </Panel>
  );
}

function Shown({ worker, trigger, mayEdit }: { worker: Worker; trigger: Trigger; mayEdit: boolean }) {
  const { cron = '', timezone = 'UTC', misfire = 'fire_once', inputs = {}, missed_fires: missed = 0 } = trigger;
  const words = scheduleWords({ cron, timezone });
  const remove = useChangeWorker(worker.id, () => toast('The schedule is removed'));
  const facts: [string, ReactNode][] = [
    ['Runs', words.charAt(0).toUpperCase() + words.slice(1)],
    ['Cron expression', <code key="cron">{cron}</code>],
    [
      'Last started',
      trigger.last_scheduled_at ? <Timestamp key="at" at={Date.parse(trigger.last_scheduled_at)} /> : 'Not yet',
    ],
    ['Missed times', missed === 0 ? 'None' : missed],
    ['When times are missed', MISFIRES[misfire]],
    ...(Object.keys(inputs).length ? [['Inputs', JSON.stringify(inputs, null, 2)] as [string, string]] : []),
  ];
  return (
    <Stack gap="md">
      {worker.status === 'paused' && (
        <Notice tone="info">It is paused: these times pass without a run, and are not counted as missed.</Notice>
      )}
      <div className={styles.halves}>
        <Facts facts={facts} />
        <NextFires cron={cron} timezone={timezone} />
      </div>
      {missed > 0 && (
        <Text maw="68ch" c="dimmed" fz="sm">
          A time is missed when the platform is down or busy, or when a run is refused then. An alert can notify you.
        </Text>
      )}
      <Failure title="The schedule was not removed" error={remove.error} />
      {mayEdit && (
        <Group gap="xs" align="stretch">
          <ConfirmButton
            label="Remove the schedule"
            question="Remove it"
            busy={remove.isPending}
            onConfirm={() => remove.mutate(withTrigger(worker, 'cron', null))}
          >
            Remove the schedule
          </ConfirmButton>
        </Group>
      )}
    </Stack>
  );
}
