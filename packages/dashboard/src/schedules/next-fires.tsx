import { Box, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../shell/api';
import { Timestamp } from '../ui/timestamp';
import { describeCron, formatTimeZone } from './describe-cron';
import { describeOffsetTransition, formatClockTime } from './offset-transitions';

const FIRES_SHOWN = 5;
const DEBOUNCE_MS = 250;

interface NextFiresProps {
  cron: string;
  timezone: string;
}

/** Shows the next times of a schedule in its zone; or the problem of the schedule. */
export function NextFires({ cron, timezone }: NextFiresProps) {
  const [debounced] = useDebouncedValue(`${timezone}\n${cron}`, DEBOUNCE_MS);
  const [zone = '', expression = ''] = debounced.split('\n');
  const { data, error } = useQuery({
    queryKey: ['schedule', expression, zone],
    // The times that stay on screen while others load keep their own zone: the new one may not exist.
    queryFn: async () => ({
      ...(await api.worker.POST('/api/schedules/preview', { body: { cron: expression, timezone: zone } })),
      cron: expression,
      timezone: zone,
    }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (error) {
    return (
      <Text fz="sm" c="var(--error)" role="alert">
        {error.message}
      </Text>
    );
  }
  const words = data && describeCron(data.cron);
  const note = data && describeOffsetTransition(data, Date.now());
  return (
    <Stack component="section" gap="xs" aria-label="Next runs">
      <Box component="h3" c="dimmed">
        Next runs{words && `: ${words}`} ({describeClock(data?.timezone ?? zone)})
      </Box>
      {data ? (
        <Stack component="ol" gap={0} fz="sm">
          {data.fires.slice(0, FIRES_SHOWN).map((fire) => (
            <FireTime key={fire} at={Date.parse(fire)} timezone={data.timezone} />
          ))}
        </Stack>
      ) : (
        <Skeleton height={140} />
      )}
      {note && (
        <Text fz="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Stack>
  );
}

const describeClock = (zone: string): string => (zone === 'UTC' ? 'UTC' : `${formatTimeZone(zone)} time`);

function FireTime({ at, timezone }: { at: number; timezone: string }) {
  const day = new Intl.DateTimeFormat(undefined, {
    timeZone: timezone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
  const local = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(at);
  const zoneTime = formatClockTime(timezone, at);
  const isOtherZone = hasDifferentOffset(timezone, at);
  return (
    <Group component="li" gap="0 var(--space-3)" align="stretch" py={4}>
      <Box component="strong" miw="13rem">
        {day.format(at)}, {zoneTime}
      </Box>
      <Text span c="dimmed">
        <Timestamp at={at} />
        {isOtherZone && `, ${local} your time`}
      </Text>
    </Group>
  );
}

const clockParts = { hour: 'numeric', minute: 'numeric', day: 'numeric' } as const;

/** Whether the clock of that zone shows another time than the reader's. */
const hasDifferentOffset = (timezone: string, at: number): boolean =>
  new Intl.DateTimeFormat('en', { ...clockParts, timeZone: timezone }).format(at) !==
  new Intl.DateTimeFormat('en', clockParts).format(at);
