import { Box, Button, Group, Switch, Text } from '@mantine/core';
import { Link } from 'react-router';
import { describeCheck } from '../../evaluations/check-labels';
import { useDeleteExample, useUpdateExample } from '../../evaluations/evaluation-queries';
import type { Example, Worker } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { ConfirmButton } from '../../ui/confirm-button';
import { formatDollars, formatDuration } from '../../ui/format';
import { ErrorNotice } from '../../ui/notice';

interface ExampleListProps {
  worker: Worker;
  examples: Example[];
  canEdit: boolean;
  onEdit: (example: Example) => void;
}

export function ExampleList({ worker, examples, canEdit, onEdit }: ExampleListProps) {
  const change = useUpdateExample(worker.id);
  const remove = useDeleteExample(worker.id);
  return (
    <>
      <ul className="panel-list divided rows">
        {examples.map((example) => (
          <li key={example.id}>
            <div>
              <Text className="wrap-anywhere" fw={640}>
                {example.name}
                {!example.enabled && (
                  <Text span fw={400} c="dimmed">
                    {' '}
                    · turned off
                  </Text>
                )}
              </Text>
              {example.description && <p className="caption">{example.description}</p>}
              <ExampleSummary example={example} />
            </div>
            {canEdit && (
              <Group gap="xs">
                <Switch
                  aria-label={`Include ${example.name} in evaluations`}
                  checked={example.enabled}
                  onChange={() => change.mutate({ id: example.id, enabled: !example.enabled })}
                />
                <Button variant="default" aria-label={`Edit ${example.name}`} onClick={() => onEdit(example)}>
                  Edit
                </Button>
                <ConfirmButton
                  label={`Delete ${example.name}`}
                  question="Delete now"
                  busy={remove.isPending && remove.variables === example.id}
                  onConfirm={() => remove.mutate(example.id, { onSuccess: () => toast(`${example.name} deleted`) })}
                >
                  Delete
                </ConfirmButton>
              </Group>
            )}
          </li>
        ))}
      </ul>
      <ErrorNotice title="Changes not saved" error={change.error ?? remove.error} />
    </>
  );
}

function ExampleSummary({ example }: { example: Example }) {
  const { checks, max_duration_seconds: seconds, max_cost_usd: cost, of_run_id: runId } = example;
  return (
    <Box
      component="ul"
      className="wrap-anywhere"
      m="4px 0 0"
      fz="xs"
      c="dimmed"
      aria-label={`Checks for ${example.name}`}
    >
      {checks.map((check, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: checks have no names, and may be alike.
        <li key={index}>{describeCheck(check)}</li>
      ))}
      {seconds !== null && <li>Takes up to {formatDuration(seconds * 1_000)}</li>}
      {cost !== null && <li>Costs up to {formatDollars(cost)}</li>}
      {runId !== null && (
        <li>
          <Link to={workerRunPath(runId)}>Source run</Link>
        </li>
      )}
    </Box>
  );
}
