import { Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { automationPath, workerPath } from '../../shell/paths';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import styles from './overview-page.module.css';
import { type Overview, useScheduledAutomations } from './overview-queries';

const RUNS_SHOWN = 6;
const clockFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });

/** Lists the next scheduled runs of both surfaces, soonest first. */
export function UpcomingRuns({ workers }: { workers: Overview['upcoming'] }) {
  const { data: automations = [] } = useScheduledAutomations();
  const next = [
    ...workers.map(({ id, name, at }) => ({ to: workerPath(id), name, at: Date.parse(at) })),
    ...automations.map(({ id, name, at }) => ({ to: automationPath(id), name, at })),
  ]
    .sort((a, b) => a.at - b.at)
    .slice(0, RUNS_SHOWN);
  return (
    <Panel title="Upcoming runs">
      {next.length === 0 ? (
        <Text fz="sm" c="dimmed">
          No scheduled runs. Add a schedule to a worker under Triggers.
        </Text>
      ) : (
        <Stack component="ul" className="divided rows" gap={0}>
          {next.map(({ to, name, at }) => (
            <li key={`${to} ${at}`} className={styles.row}>
              <Link to={to} className="title-link">
                {name}
              </Link>
              <Text span className="nowrap" fz="xs" c="dimmed">
                <Timestamp at={at} />
              </Text>
              <span className="caption full-row">{clockFormat.format(at)}</span>
            </li>
          ))}
        </Stack>
      )}
    </Panel>
  );
}
