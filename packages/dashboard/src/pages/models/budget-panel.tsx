import type { WorkerSchemas } from '@gantry/sdk';
import { Box, Button, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Model, type Workspace } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { FormRow, handleSubmit } from '../../ui/form';
import { getFormText } from '../../ui/form-text';
import { formatDollars, formatMonth, formatPercent } from '../../ui/format';
import { ErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

interface BudgetPanelProps {
  usage: WorkerSchemas['ModelUsage'];
  workspace: Workspace;
  models: readonly Model[];
}

/** The share of a budget from which the meter warns. */
const WARNING_SHARE = 0.8;
const BUDGET_MAX = 1_000_000;

/** Shows this month's model cost, the maximum cost of running calls, and the budget. */
export function BudgetPanel({ usage, workspace, models }: BudgetPanelProps) {
  const { month, usd, budget_usd: budget, reserved_usd: reserved, unpriced_calls: unpriced } = usage;
  const unpricedNames = models.filter(({ price }) => price === null).map(({ id }) => id);
  return (
    <Panel title={formatMonth(month)}>
      <Stack gap="md">
        <Text c="dimmed">
          <Text component="b" me={4} fz="var(--text-xl)" fw={680} lts="-0.02em" c="bright">
            {formatDollars(usd)}
          </Text>{' '}
          {budget === null ? 'spent, no budget set' : `of ${formatDollars(budget)} spent`}
        </Text>
        {budget !== null && <BudgetMeter usd={usd} reserved={reserved} budget={budget} />}
        {reserved > 0 && (
          <p className="caption">
            Another {formatDollars(reserved)} is reserved to cover the maximum cost of calls in progress.
          </p>
        )}
        {unpriced > 0 && (
          <p className="caption">
            This total excludes {unpriced === 1 ? '1 call to a model' : `${unpriced} calls to models`} without a price.
          </p>
        )}
        {budget !== null && unpricedNames.length > 0 && (
          <Notice tone="info" title="Some models can’t be used while a budget is set">
            No price is set for {unpricedNames.join(', ')}.
          </Notice>
        )}
        {workspace.permissions.update ? (
          <BudgetForm workspaceId={workspace.id} budget={budget} />
        ) : (
          <p className="caption">Only admins and owners can change the budget.</p>
        )}
        <p className="caption">
          The budget covers chat, agents and model calls from code, per calendar month (UTC). Calls that could exceed it
          are blocked. Workers and tokens can have their own budgets.
        </p>
      </Stack>
    </Panel>
  );
}

function BudgetMeter({ usd, reserved, budget }: { usd: number; reserved: number; budget: number }) {
  const computeShare = (part: number) => (budget > 0 ? Math.min(1, part / budget) : 1);
  const [spent, committed] = [computeShare(usd), computeShare(usd + reserved)];
  const tone = spent >= 1 ? 'error' : spent >= WARNING_SHARE ? 'timeout' : 'success';
  const label = `${formatPercent(spent)} of the budget spent${reserved > 0 ? `, ${formatPercent(computeShare(reserved))} reserved` : ''}`;
  return (
    <Box
      pos="relative"
      maw="34rem"
      h={8}
      bdrs={4}
      bg="var(--idle-wash)"
      style={{ overflow: 'hidden' }}
      data-tone={tone}
      role="img"
      aria-label={label}
    >
      {/* Spent and reserved, below the part that is spent. */}
      <Box
        component="span"
        pos="absolute"
        inset="0 auto 0 0"
        w={`${committed * 100}%`}
        bg="var(--tone)"
        opacity={0.4}
      />
      <Box component="span" pos="absolute" inset="0 auto 0 0" w={`${spent * 100}%`} bg="var(--tone)" />
    </Box>
  );
}

function BudgetForm({ workspaceId, budget }: { workspaceId: string; budget: number | null }) {
  const invalidateUsage = useInvalidateQueries((id) => ['usage', id]);
  const [savedBudget, setSavedBudget] = useState(budget);
  const change = useMutation({
    mutationFn: (monthly_budget_usd: number | null) =>
      api.worker.PATCH('/api/workspaces/{workspace_id}', {
        params: { path: { workspace_id: workspaceId } },
        body: { models: { monthly_budget_usd } },
      }),
    onSuccess: async (_changed, newBudget) => {
      setSavedBudget(newBudget);
      await invalidateUsage();
    },
  });
  function submit(formData: FormData) {
    const text = getFormText(formData, 'budget');
    const newBudget = text === '' ? null : Number(text);
    const message = newBudget === null ? 'Budget removed' : `Budget set to ${formatDollars(newBudget)} a month`;
    change.mutate(newBudget, { onSuccess: () => toast(message, { undo: () => change.mutate(budget) }) });
  }
  return (
    <FormRow onSubmit={handleSubmit(submit)}>
      <TextInput
        key={savedBudget ?? 'none'}
        type="number"
        name="budget"
        label="Monthly budget"
        description="In US dollars. Leave empty for no limit"
        placeholder="No limit"
        defaultValue={savedBudget ?? ''}
        min={0}
        max={BUDGET_MAX}
        step="any"
      />
      <Button type="submit" variant="default" loading={change.isPending}>
        Save budget
      </Button>
      <ErrorNotice title="Budget not saved" error={change.error} />
    </FormRow>
  );
}
