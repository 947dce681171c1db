import { Box, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { paths } from '../../shell/paths';
import { figure, wholeCents } from '../../ui/format';
import links from '../../ui/link-row.module.css';
import styles from './overview-page.module.css';
import { type Overview, useUsage } from './overview-queries';
import { slotsOf } from './slots';
import { NEARLY, spentShare } from './spent-share';

/** Shows four key figures of the workspace, each a link to its details. */
export function KeyFigures({ overview }: { overview: Overview }) {
  const { runs, automations, approvals_pending: pending } = overview;
  const { data: usage } = useUsage();
  const running = runs.running + (automations?.running ?? 0);
  return (
    <ul className={styles.figures}>
      <Figure to={paths.runs} name="Worker runs in 24 hours" value={counted(runs.last_24h.total, runs.last_24h.capped)}>
        <LastDay lastDay={runs.last_24h} />
      </Figure>
      <Figure to={paths.runs} name="Running now" value={figure(running)}>
        <Queue overview={overview} />
      </Figure>
      <Figure to={paths.approvals} name="Approvals" value={figure(pending)}>
        {pending === 0 ? 'None waiting' : <Warning tone="timeout">Waiting</Warning>}
      </Figure>
      <Figure to={paths.usage} name="Cost this month" value={usage ? wholeCents(usage.total.cost_usd) : '–'}>
        {usage && <Budgets shares={usage.workers.map(spentShare)} runs={usage.total.runs} />}
      </Figure>
    </ul>
  );
}

interface FigureProps {
  to: string;
  name: string;
  value: string;
  children: ReactNode;
}

function Figure({ to, name, value, children }: FigureProps) {
  return (
    <li className={`${links.row} ${styles.figure}`}>
      <Text component={Link} to={to} className={links.link} fz="sm" c="dimmed">
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

function LastDay({ lastDay }: { lastDay: Overview['runs']['last_24h'] }) {
  const failed = lastDay.failed + lastDay.timed_out;
  if (lastDay.total === 0) return 'No worker ran';
  if (failed === 0) return 'None failed';
  return <Warning tone="error">{figure(failed)} failed</Warning>;
}

function Queue({ overview }: { overview: Overview }) {
  const { slots } = slotsOf(overview);
  if (slots === 0) return <Warning tone="error">No executor is ready</Warning>;
  if (overview.queue_depth === 0) return 'Nothing is queued';
  return <Warning tone="timeout">{figure(overview.queue_depth)} queued</Warning>;
}

function Budgets({ shares, runs }: { shares: (number | null)[]; runs: number }) {
  const spent = shares.filter((share) => share !== null && share >= 1).length;
  if (spent) return <Warning tone="error">{spent === 1 ? 'A budget is spent' : `${spent} budgets are spent`}</Warning>;
  const nearly = shares.filter((share) => share !== null && share >= NEARLY).length;
  if (nearly) return <Warning tone="timeout">{nearly === 1 ? 'A budget' : `${nearly} budgets`} nearly spent</Warning>;
  const hasBudget = shares.some((share) => share !== null);
  return hasBudget ? 'Within all budgets' : `${figure(runs)} ${runs === 1 ? 'run' : 'runs'} of workers`;
}

function Warning({ tone, children }: { tone: 'error' | 'timeout'; children: ReactNode }) {
  return (
    <span className={styles.warning} data-tone={tone}>
      {children}
    </span>
  );
}

const counted = (count: number, isCapped: boolean): string => (isCapped ? `${figure(count)}+` : figure(count));
