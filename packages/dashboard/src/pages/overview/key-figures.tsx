import { Box, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { paths } from '../../shell/paths';
import { formatNumber, formatRoundedDollars } from '../../ui/format';
import links from '../../ui/link-row.module.css';
import { BUDGET_WARNING_SHARE, computeBudgetShare } from './budget-share';
import styles from './overview-page.module.css';
import { type Overview, useUsage } from './overview-queries';
import { countSlots } from './slots';

/** Shows four key figures of the workspace, each a link to its details. */
export function KeyFigures({ overview }: { overview: Overview }) {
  const { runs, automations, approvals_pending: pending } = overview;
  const { data: usage } = useUsage();
  const running = runs.running + (automations?.running ?? 0);
  return (
    <ul className={styles.figures}>
      <KeyFigure
        to={paths.runs}
        name="Worker runs, last 24 hours"
        value={formatCount(runs.last_24h.total, runs.last_24h.capped)}
      >
        <LastDayStatus lastDay={runs.last_24h} />
      </KeyFigure>
      <KeyFigure to={paths.runs} name="Running now" value={formatNumber(running)}>
        <QueueStatus overview={overview} />
      </KeyFigure>
      <KeyFigure to={paths.approvals} name="Approvals" value={formatNumber(pending)}>
        {pending === 0 ? 'None pending' : <Warning tone="timeout">Pending</Warning>}
      </KeyFigure>
      <KeyFigure
        to={paths.usage}
        name="Cost this month"
        value={usage ? formatRoundedDollars(usage.total.cost_usd) : '–'}
      >
        {usage && <BudgetStatus shares={usage.workers.map(computeBudgetShare)} runs={usage.total.runs} />}
      </KeyFigure>
    </ul>
  );
}

interface KeyFigureProps {
  to: string;
  name: string;
  value: string;
  children: ReactNode;
}

function KeyFigure({ to, name, value, children }: KeyFigureProps) {
  return (
    <li className={`${links.row} ${styles.figure}`}>
      <Text component={Link} to={to} className={`${links.link} stretched-link`} fz="sm" c="dimmed">
        {name}
      </Text>
      <Box component="p" my="4px 8px" fz="var(--text-figure)" fw={680} lh={1.05} lts="-0.035em">
        {value}
      </Box>
      <Box component="p" mih="1.5em" fz="sm" c="dimmed">
        {children}
      </Box>
    </li>
  );
}

function LastDayStatus({ lastDay }: { lastDay: Overview['runs']['last_24h'] }) {
  const failed = lastDay.failed + lastDay.timed_out;
  if (lastDay.total === 0) return 'No worker runs';
  if (failed === 0) return 'None failed';
  return <Warning tone="error">{formatNumber(failed)} failed</Warning>;
}

function QueueStatus({ overview }: { overview: Overview }) {
  const { slots } = countSlots(overview);
  if (slots === 0) return <Warning tone="error">No executor is ready</Warning>;
  if (overview.queue_depth === 0) return 'No queued runs';
  return <Warning tone="timeout">{formatNumber(overview.queue_depth)} queued</Warning>;
}

function BudgetStatus({ shares, runs }: { shares: (number | null)[]; runs: number }) {
  const exceededCount = shares.filter((share) => share !== null && share >= 1).length;
  if (exceededCount)
    return (
      <Warning tone="error">{exceededCount === 1 ? '1 budget used up' : `${exceededCount} budgets used up`}</Warning>
    );
  const warningCount = shares.filter((share) => share !== null && share >= BUDGET_WARNING_SHARE).length;
  if (warningCount)
    return (
      <Warning tone="timeout">{warningCount === 1 ? '1 budget' : `${warningCount} budgets`} nearly used up</Warning>
    );
  const hasBudget = shares.some((share) => share !== null);
  return hasBudget ? 'All within budget' : `${formatNumber(runs)} ${runs === 1 ? 'worker run' : 'worker runs'}`;
}

function Warning({ tone, children }: { tone: 'error' | 'timeout'; children: ReactNode }) {
  return (
    <Group component="span" display="inline-flex" gap="xs" wrap="nowrap" fw={600} c="var(--tone)" data-tone={tone}>
      <Box component="span" flex="none" w="0.5rem" h="0.5rem" bdrs="50%" bg="currentcolor" aria-hidden="true" />
      {children}
    </Group>
  );
}

const formatCount = (count: number, isCapped: boolean): string =>
  isCapped ? `${formatNumber(count)}+` : formatNumber(count);
