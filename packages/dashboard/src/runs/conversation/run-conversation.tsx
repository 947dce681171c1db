import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { AgentMessage } from '../../conversation/agent-message';
import { WorkingIndicator } from '../../conversation/working-indicator';
import type { WorkerRun } from '../../shell/api';
import { downloadFile } from '../../ui/download-file';
import { formatCount } from '../../ui/format';
import { DownloadIcon } from '../../ui/icons';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { downloadArtifact } from '../download-artifact';
import type { LiveRun } from '../live-run';
import { formatModelCallUsage, type ModelCallUsage, sumModelCallUsage } from '../timeline/model-call-usage';
import { isRunFinished } from '../worker-runs';
import { AgentCallItem, getQuestionElementId } from './agent-call-item';
import styles from './run-conversation.module.css';
import { type AgentCall, attachApprovals, buildLiveMessages, type RunMessage } from './run-messages';
import { TRANSCRIPT_NAME, useTranscript } from './use-transcript';

interface RunConversationProps {
  run: WorkerRun;
  live: LiveRun;
  /**
   * Renders a pending approval at the call that requested it; null where code requests it and it is shown elsewhere.
   */
  question: ((approvalId: string) => ReactNode) | null;
  /** Shown for a finished run without stored messages. */
  empty?: ReactNode;
}

export const RunConversation = (props: RunConversationProps) => (
  <Panel title="Conversation">
    <RunMessages {...props} />
  </Panel>
);

/** Shows an agent's texts, calls and results, live and afterwards. */
export function RunMessages({ run, live, question, empty }: RunConversationProps) {
  const over = isRunFinished(run);
  const transcript = useTranscript(run, over);
  const { messages, unplaced } = attachApprovals(transcript.said ?? buildLiveMessages(live.parts, run.steps), run);
  const isRead = over && live.done && !transcript.isReading;
  const uses = messages.flatMap((one) => (one.kind === 'answer' ? [one.use] : []));
  return (
    <Stack gap="md">
      {messages.length === 0 &&
        (over || run.status !== 'running') &&
        (isRead && empty ? empty : <p className="caption">{getEmptyText(over, isRead)}</p>)}
      {groupMessages(messages).map((group, place) => {
        const key = `${place} ${group.kind}`;
        switch (group.kind) {
          case 'answer':
            return <ModelCallUsageLine key={key} use={group.use} />;
          case 'text':
            return <AgentMessage key={key} text={group.text} />;
          case 'summary':
            return (
              <details key={key} className={styles.summary}>
                <summary>The agent summarized earlier messages to fit the model’s context window</summary>
                <AgentMessage text={group.text} />
              </details>
            );
          default:
            return (
              <Box key={key} className="divided surface" bdrs={8} style={{ overflow: 'hidden' }}>
                {group.calls.map((call, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: calls are only added, and have no other name.
                  <AgentCallItem key={at} call={call} isOver={over} question={question} />
                ))}
              </Box>
            );
        }
      })}
      {unplaced.map(
        ({ id, status }) =>
          question &&
          status === 'pending' && (
            <div key={id} id={getQuestionElementId(id)}>
              {question(id)}
            </div>
          ),
      )}
      {run.status === 'running' && <WorkingIndicator isStreaming={messages.at(-1)?.kind === 'text'} />}
      {uses.length > 0 && (
        <Group gap="8px 16px" justify="space-between" pt="md" style={{ borderTop: '1px solid var(--line)' }}>
          <UsageTotals uses={uses} />
          {over && <TranscriptDownload run={run} />}
        </Group>
      )}
    </Stack>
  );
}

function getEmptyText(isFinished: boolean, isLoaded: boolean): string {
  if (!isFinished) return 'No messages yet.';
  return isLoaded ? 'This run has no messages.' : 'Loading messages…';
}

type MessageGroup = Exclude<RunMessage, AgentCall> | { kind: 'calls'; calls: AgentCall[] };

/** Groups consecutive calls. */
function groupMessages(messages: readonly RunMessage[]): MessageGroup[] {
  const groups: MessageGroup[] = [];
  for (const one of messages) {
    const last = groups.at(-1);
    if (one.kind !== 'call') groups.push(one);
    else if (last?.kind === 'calls') last.calls.push(one);
    else groups.push({ kind: 'calls', calls: [one] });
  }
  return groups;
}

function ModelCallUsageLine({ use }: { use: ModelCallUsage }) {
  const words = formatModelCallUsage(use);
  return (
    <Group component="p" className={styles.answer} gap="0 var(--space-3)" align="baseline" fz="xs" c="dimmed">
      <Text span className="wrap-anywhere" fw={600}>
        {use.model ?? 'Model call'}
      </Text>
      {words && <span>{words}</span>}
    </Group>
  );
}

function UsageTotals({ uses }: { uses: ModelCallUsage[] }) {
  const sum = sumModelCallUsage(uses);
  const words = formatModelCallUsage(sum);
  return (
    <Text fz="xs" c="dimmed">
      {formatCount(sum.calls, 'model call')}
      {words && `: ${words}`}
    </Text>
  );
}

function TranscriptDownload({ run }: { run: WorkerRun }) {
  const file = run.artifacts.find(({ name }) => name === TRANSCRIPT_NAME);
  const download = useMutation({
    mutationFn: async (id: string) => downloadFile(TRANSCRIPT_NAME, await downloadArtifact(run.id, id)),
  });
  if (!file) return null;
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<DownloadIcon />}
        loading={download.isPending}
        onClick={() => download.mutate(file.id)}
      >
        Download transcript
      </Button>
      <ErrorNotice title="Download failed" error={download.error} />
    </>
  );
}
