import { Group, Stack, Text } from '@mantine/core';
import { EscapedValue } from '../conversation/escaped-value';
import { formatToolTitle } from '../conversation/tool-title';
import type { ApprovalCall } from '../shell/api';
import { CheckIcon, CrossIcon } from '../ui/icons';
import { StatusChip, type StatusDisplay } from '../ui/status-chip';

type CallStatus = NonNullable<ApprovalCall['decision']>['status'];

export const CALL_STATUSES: Record<CallStatus, StatusDisplay> = {
  approved: { tone: 'success', word: 'Approved', icon: <CheckIcon /> },
  corrected: { tone: 'success', word: 'Approved with changes', icon: <CheckIcon /> },
  refused: { tone: 'idle', word: 'Rejected', icon: <CrossIcon /> },
};

/** Lists tool calls with the decision about each. */
export function ToolCallList({ calls }: { calls: ApprovalCall[] }) {
  const items = calls.map(({ id, tool, arguments: callArguments, decision }) => {
    const status = decision && CALL_STATUSES[decision.status];
    return (
      <Stack
        component="section"
        key={id}
        gap="sm"
        pb="md"
        style={{ borderBottom: '1px solid var(--line)' }}
        aria-label={formatToolTitle(tool)}
      >
        <Group gap="8px 12px" justify="space-between">
          <h3>{formatToolTitle(tool)}</h3>
          {status && <StatusChip {...status} />}
        </Group>
        <EscapedValue value={callArguments} />
        {decision?.arguments && <CorrectedArgumentsView value={decision.arguments} />}
        {decision?.reason && <p>Reason: {decision.reason}</p>}
      </Stack>
    );
  });
  return (
    <Stack gap="md" m="16px 0">
      {items}
    </Stack>
  );
}

/** Shows arguments that an approver gave in place of the agent's. */
export function CorrectedArgumentsView({ value }: { value: unknown }) {
  return (
    <div>
      <Text mb={4} fz="xs" c="dimmed">
        Changed to
      </Text>
      <EscapedValue value={value} />
    </div>
  );
}
