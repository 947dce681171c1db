import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { paths, workerPath, workerRunPath } from '../../shell/paths';
import { formatNumber } from '../../ui/format';
import { CheckIcon } from '../../ui/icons';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import styles from './overview-page.module.css';
import type { Overview } from './overview-queries';

const WORKERS_SHOWN = 6;

/** Lists the workers whose last run failed, and counts such automations. */
export function AttentionPanel({ overview }: { overview: Overview }) {
  const { failing } = overview.workers;
  const automations = overview.automations?.failing ?? 0;
  const hiddenCount = failing.length - WORKERS_SHOWN;
  return (
    <Panel
      title="Needs attention"
      aside={hiddenCount > 0 && <Link to={paths.workers}>{formatNumber(hiddenCount)} more</Link>}
    >
      {failing.length === 0 && automations === 0 ? (
        <Group component="p" gap="xs" wrap="nowrap" fz="sm" c="var(--success)">
          <CheckIcon />
          No failures in the latest runs.
        </Group>
      ) : (
        <Stack component="ul" className="divided rows" gap={0}>
          {failing.slice(0, WORKERS_SHOWN).map(({ id, name, last_error, last_run_id, failed_at }) => (
            <li key={id} className={styles.row}>
              <Link to={workerPath(id)} className="title-link">
                {name}
              </Link>
              <Text span className="nowrap" fz="xs" c="dimmed">
                failed <Timestamp at={Date.parse(failed_at)} />
              </Text>
              <Anchor
                component={Link}
                to={workerRunPath(last_run_id)}
                className="full-row small-code"
                c="var(--error)"
                lineClamp={2}
              >
                {last_error ?? 'View run'}
              </Anchor>
            </li>
          ))}
          {automations > 0 && (
            <li className={styles.row}>
              <Link to={paths.automations} className="title-link">
                {automations === 1 ? '1 automation' : `${formatNumber(automations)} automations`}
              </Link>
              <Text span className="nowrap" fz="xs" c="dimmed">
                last run failed
              </Text>
            </li>
          )}
        </Stack>
      )}
    </Panel>
  );
}
