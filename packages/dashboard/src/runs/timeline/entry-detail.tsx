import { Box, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { OutputJson } from '../../outputs/output-json';
import { approvalPath, workerRunPath } from '../../shell/paths';
import { DetailList } from '../../ui/detail-list';
import { formatDollars, formatDuration, formatNumber } from '../../ui/format';
import { Timestamp } from '../../ui/timestamp';
import type { TimelineRun } from './entry';
import { isModelStep, parseModelCallUsage } from './model-call-usage';
import styles from './timeline.module.css';

type Detail = [name: string, value: ReactNode];
type OptionalDetail = [name: string, value: ReactNode | false | null | undefined];

const filterPresentDetails = (facts: OptionalDetail[]): Detail[] =>
  facts.filter(([, value]) => value !== false && value !== null && value !== undefined) as Detail[];

export function StepDetail({ step }: { step: TimelineRun['steps'][number] }) {
  const result = isModelStep(step) ? omitModelCallUsage(step.result) : step.result;
  const from = Date.parse(step.started_at);
  const to = step.finished_at === null ? null : Date.parse(step.finished_at);
  return (
    <Stack className={styles.detail} gap="sm" fz="sm">
      {step.error && (
        <Text className="pre-wrap wrap-anywhere" c="var(--error)">
          {step.error.type && <b>{step.error.type}: </b>}
          {step.error.message}
        </Text>
      )}
      <DetailList
        details={filterPresentDetails([
          ['Started', <Timestamp key="from" at={from} />],
          ['Duration', to !== null && formatDuration(to - from)],
          ...(isModelStep(step) ? buildModelDetails(step.result) : []),
          ['Child run', step.run_id && <Link to={workerRunPath(step.run_id)}>View run</Link>],
        ])}
      />
      {result !== null && result !== undefined && (
        <section aria-label={`Result of ${step.name}`}>
          <Box component="h3" fz="xs" c="dimmed">
            Result
          </Box>
          <OutputJson value={result} />
        </section>
      )}
    </Stack>
  );
}

/** Returns a model's response without the fields of buildModelDetails. */
function omitModelCallUsage(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return response;
  const { model: _model, usage: _usage, cut: _cut, ...said } = response as Record<string, unknown>;
  return said;
}

/** Lists the facts of a model's response; none where the step keeps no result. */
function buildModelDetails(response: unknown): OptionalDetail[] {
  const { model, inputTokens, outputTokens, usd } = parseModelCallUsage(response);
  return [
    ['Model', model],
    ['Input tokens', inputTokens !== null && formatNumber(inputTokens)],
    ['Output tokens', outputTokens !== null && formatNumber(outputTokens)],
    ['Cost', usd !== null && formatDollars(usd)],
  ];
}

export function ApprovalDetail({ approval }: { approval: TimelineRun['approvals'][number] }) {
  const { id, message, requested_at, decided_at, decided_by, reason } = approval;
  return (
    <Stack className={styles.detail} gap="sm" fz="sm">
      {message && <Text className="pre-wrap wrap-anywhere">{message}</Text>}
      <DetailList
        details={filterPresentDetails([
          ['Requested', <Timestamp key="asked" at={Date.parse(requested_at)} />],
          ['Decided', decided_at && <Timestamp key="decided" at={Date.parse(decided_at)} />],
          ['Decided by', decided_by],
          ['Reason', reason],
          // A reader who is told who decided may read the whole approval.
          ['Approval', decided_by !== undefined && <Link to={approvalPath(id)}>View approval</Link>],
        ])}
      />
    </Stack>
  );
}
