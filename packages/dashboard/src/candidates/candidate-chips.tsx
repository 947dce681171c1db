import { Group } from '@mantine/core';
import { VERDICT_LOOKS, VerdictBadge } from '../rehearsals/verdict-badge';
import type { Candidate, CandidateSummary } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, StopIcon } from '../ui/icons';
import { createStatusChip } from '../ui/status-chip';
import { countSettled } from './verdict';

export const CandidateStatusChip = createStatusChip<Candidate['status']>({
  rehearsing: VERDICT_LOOKS.rehearsing,
  ready: { tone: 'timeout', word: 'Awaiting decision', icon: <ClockIcon /> },
  promoted: { tone: 'success', word: 'Promoted', icon: <CheckIcon /> },
  dropped: { tone: 'idle', word: 'Dropped', icon: <StopIcon /> },
  failed: { tone: 'error', word: 'Not rehearsed', icon: <CrossIcon /> },
});

const OUTCOME_ORDER = ['fixed', 'same', 'different', 'still_failing', 'broken', 'inconclusive'] as const;

/** Shows a chip with the number of cases for each outcome; nothing for a candidate without cases. */
export function OutcomeCountChips({ summary }: { summary: CandidateSummary }) {
  const open = summary.total - countSettled(summary);
  if (summary.total === 0) return null;
  return (
    <Group component="span" display="inline-flex" gap={4} align="stretch">
      {OUTCOME_ORDER.filter((outcome) => summary[outcome] > 0).map((outcome) => (
        <VerdictBadge key={outcome} verdict={outcome} count={summary[outcome]} />
      ))}
      {open > 0 && <VerdictBadge verdict="rehearsing" count={open} />}
    </Group>
  );
}
