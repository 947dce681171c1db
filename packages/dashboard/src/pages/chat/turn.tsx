import { Box, Stack, Text } from '@mantine/core';
import type { Ref } from 'react';
import { AgentMessage } from '../../conversation/agent-message';
import { ToolCall } from '../../conversation/tool-call';
import { UserMessage } from '../../conversation/user-message';
import { WorkingIndicator } from '../../conversation/working-indicator';
import type { ChatCall, ChatTurn } from '../../shell/api';
import { formatDollars, formatDuration } from '../../ui/format';
import { getCallSummaryId, toCallState } from './call-state';
import { ToolCallApproval } from './tool-call-approval';
import { TurnLinks } from './turn-links';
import { TurnOutcome, type TurnOutcomeProps } from './turn-outcome';

interface TurnProps extends TurnOutcomeProps {
  durations: Readonly<Record<string, number>>;
  /** In US dollars, where it is known. */
  cost: number | undefined;
  /** For the first call that waits for approval. */
  approveButton: Ref<HTMLButtonElement>;
  rejectButton: Ref<HTMLButtonElement>;
}

/** Shows a message with the agent's calls and answer. */
export function Turn({ conversationId, turn, durations, cost, send, approveButton, rejectButton }: TurnProps) {
  const groups = groupParts(turn.parts);
  const calls = turn.parts.filter((part) => part.type === 'tool_call');
  const waiting = calls.filter(({ status }) => status === 'pending' && !hasEnded(turn));
  return (
    <Stack component="li" gap="md">
      <UserMessage author="You" text={turn.message} at={Date.parse(turn.created_at)} />
      <Stack component="article" gap="md" aria-label="Agent">
        <h3 className="visually-hidden">The agent’s answer</h3>
        {groups.map((group) =>
          group.type === 'text' ? (
            <AgentMessage key={group.key} text={group.text} />
          ) : (
            <Box
              key={group.key}
              className="divided"
              bd="1px solid var(--line)"
              bdrs={8}
              bg="var(--surface)"
              style={{ overflow: 'hidden' }}
            >
              {group.calls.map((call) =>
                waiting.includes(call) ? (
                  <ToolCallApproval
                    key={call.call_id}
                    conversationId={conversationId}
                    call={call}
                    isTurnRunning={turn.status === 'running'}
                    approveButton={call === waiting[0] ? approveButton : undefined}
                    rejectButton={call === waiting[0] ? rejectButton : undefined}
                  />
                ) : (
                  <ToolCallLine key={call.call_id} call={call} turn={turn.status} ms={durations[call.call_id]} />
                ),
              )}
            </Box>
          ),
        )}
        {turn.status === 'running' && <WorkingIndicator isStreaming={groups.at(-1)?.type === 'text'} />}
        <TurnLinks turn={turn} />
        <TurnOutcome conversationId={conversationId} turn={turn} send={send} />
        {turn.ended_at && (
          <Text fz="xs" c="dimmed">
            {formatDuration(Date.parse(turn.ended_at) - Date.parse(turn.created_at))}
            {cost !== undefined && ` · ${formatDollars(cost)}`}
          </Text>
        )}
      </Stack>
    </Stack>
  );
}

interface ToolCallLineProps {
  call: ChatCall;
  turn: ChatTurn['status'];
  ms: number | undefined;
}

function ToolCallLine({ call, turn, ms }: ToolCallLineProps) {
  const state = toCallState(call.status, turn);
  return (
    <ToolCall
      id={getCallSummaryId(call.call_id)}
      title={call.title}
      name={call.name}
      callArguments={call.arguments}
      result={call.result}
      state={state}
      ms={ms}
      note={
        state.word === 'Outcome unknown' &&
        'The service stopped during this call. The call may have completed, so it won’t be retried automatically.'
      }
    />
  );
}

const hasEnded = ({ status }: ChatTurn): boolean => status !== 'running' && status !== 'waiting';

type PartGroup = { key: string; type: 'text'; text: string } | { key: string; type: 'calls'; calls: ChatCall[] };

/** Groups consecutive calls. */
function groupParts(parts: ChatTurn['parts']): PartGroup[] {
  const groups: PartGroup[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    const key = String(groups.length);
    if (part.type === 'text') groups.push({ key, type: 'text', text: part.text });
    else if (last?.type === 'calls') last.calls.push(part);
    else groups.push({ key, type: 'calls', calls: [part] });
  }
  return groups;
}
