import { Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { bindText } from '../ui/bind';
import { NextFires } from './next-fires';
import { DEFAULT_SCHEDULE, parseSimpleCron, type RepeatInterval, type SimpleSchedule, toCron } from './simple-schedule';

export interface Schedule {
  cron: string;
  timezone: string;
}

interface ScheduleFieldsProps {
  schedule: Schedule;
  onChange: (schedule: Schedule) => void;
}

const REPEAT_LABELS: Record<RepeatInterval | 'cron', string> = {
  hourly: 'Every hour',
  daily: 'Every day',
  weekdays: 'Every weekday',
  weekly: 'Every week',
  monthly: 'Every month',
  cron: 'Cron expression',
};
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const DAYS_IN_EVERY_MONTH = 28;

export const getLocalTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** Edits a schedule, with its next times below. */
export function ScheduleFields({ schedule, onChange }: ScheduleFieldsProps) {
  const simple = parseSimpleCron(schedule.cron);
  const [byCron, setByCron] = useState(simple === null);
  const shown = byCron ? null : simple;
  const zones = useId();
  const updateSchedule = (part: Partial<SimpleSchedule>) =>
    onChange({ ...schedule, cron: toCron({ ...(simple ?? DEFAULT_SCHEDULE), ...part }) });
  return (
    <Stack gap="md">
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label="Frequency"
          value={shown?.repeats ?? 'cron'}
          onChange={({ currentTarget: { value } }) => {
            setByCron(value === 'cron');
            if (value !== 'cron') updateSchedule({ repeats: value as RepeatInterval });
          }}
          data={Object.entries(REPEAT_LABELS).map(([value, label]) => ({ value, label }))}
        />
        {!shown && (
          <TextInput
            className="code-field"
            flex="1 1 12rem"
            maw="18rem"
            label="Cron expression"
            description="Minute, hour, day of month, month, day of week"
            {...bindText(schedule.cron, (cron) => onChange({ ...schedule, cron }))}
            spellCheck={false}
            autoComplete="off"
            required
          />
        )}
        {shown?.repeats === 'weekly' && (
          <NativeSelect
            label="Day of week"
            value={shown.weekday}
            onChange={(event) => updateSchedule({ weekday: Number(event.currentTarget.value) })}
            data={DAYS.map((label, at) => ({ value: String((at + 1) % 7), label }))}
          />
        )}
        {shown?.repeats === 'monthly' && (
          <NativeSelect
            label="Day of month"
            value={shown.day}
            onChange={(event) => updateSchedule({ day: Number(event.currentTarget.value) })}
            data={listMonthDays(shown.day)}
          />
        )}
        {shown?.repeats === 'hourly' && (
          <TextInput
            type="number"
            label="Minutes past the hour"
            min={0}
            max={59}
            value={Number(shown.time.split(':')[1])}
            onChange={({ currentTarget: { value } }) =>
              updateSchedule({ time: `00:${value.padStart(2, '0').slice(-2)}` })
            }
          />
        )}
        {shown && shown.repeats !== 'hourly' && (
          <TextInput
            type="time"
            label="Time"
            value={shown.time}
            onChange={({ currentTarget: { value } }) => value && updateSchedule({ time: value })}
          />
        )}
        <TextInput
          flex="1 1 12rem"
          maw="18rem"
          label="Time zone"
          {...bindText(schedule.timezone, (timezone) => onChange({ ...schedule, timezone }))}
          list={zones}
          spellCheck={false}
          autoComplete="off"
          required
        />
        <datalist id={zones}>
          {listTimeZones().map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </Group>
      <NextFires {...schedule} />
    </Stack>
  );
}

/** Lists the days that every month has, and a later one only if it is selected. */
const listMonthDays = (day: number): string[] =>
  Array.from({ length: Math.max(DAYS_IN_EVERY_MONTH, day) }, (_, at) => String(at + 1));

const listTimeZones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];
