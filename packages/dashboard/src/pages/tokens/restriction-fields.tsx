import { ActionIcon, Box, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ToolsetChoice } from '../../accounts/toolset-choice';
import { CrossIcon } from '../../ui/icons';
import type { Option } from '../../ui/search-select';
import { FindField } from '../../workers/find-field';
import { askedOf, type Restriction } from './restriction';
import styles from './restriction-fields.module.css';

interface RestrictionFieldsProps {
  restriction: Restriction;
  onChange: (restriction: Restriction) => void;
}

/** Restricts a token further than its role; untouched fields restrict nothing. */
export function RestrictionFields({ restriction, onChange }: RestrictionFieldsProps) {
  const [isOpen, setOpen] = useState(false);
  const write = (change: Partial<Restriction>) => onChange({ ...restriction, ...change });
  const { toolsets, readonly, requireApproval, budgetUsd } = restriction;
  return (
    <details className={styles.root} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{askedOf(restriction) ? 'Restricted' : 'Restrict it'}</summary>
      <Text maw="68ch" m="4px 0 16px" fz="sm" c="dimmed">
        For an agent, or for a job that needs little. A restricted token acts in this workspace alone, and the tokens
        that it makes are restricted alike.
      </Text>
      <div className={styles.fields}>
        <Chosen
          kind="worker"
          label="Only these workers"
          chosen={restriction.workers}
          onChange={(workers) => write({ workers })}
        />
        <Chosen
          kind="automation"
          label="Only these automations"
          chosen={restriction.automations}
          onChange={(automations) => write({ automations })}
        />
        <Stack component="fieldset" gap="xs">
          <legend>Only these tools</legend>
          <Box display="grid" style={{ gridTemplateColumns: 'repeat(2, minmax(0, 1fr))', gap: 'var(--space-2)' }}>
            <ToolsetChoice chosen={toolsets} onChange={(toolsets) => write({ toolsets })} />
          </Box>
        </Stack>
        <Stack component="fieldset" gap="xs">
          <legend>What it does</legend>
          <Checkbox
            label="Only reads"
            checked={readonly}
            onChange={(event) => write({ readonly: event.currentTarget.checked })}
          />
          <Checkbox
            label="Each run waits for a person"
            checked={requireApproval}
            onChange={(event) => write({ requireApproval: event.currentTarget.checked })}
          />
          <TextInput
            type="number"
            inputMode="decimal"
            min={0}
            max={1_000_000}
            step="any"
            label="Budget in USD"
            placeholder="No limit"
            description="It starts no more runs once its runs have cost this much."
            value={budgetUsd}
            onChange={(event) => write({ budgetUsd: event.currentTarget.value })}
          />
        </Stack>
      </div>
    </details>
  );
}

interface ChosenProps {
  kind: 'worker' | 'automation';
  label: string;
  chosen: Option[];
  onChange: (chosen: Option[]) => void;
}

function Chosen({ kind, label, chosen, onChange }: ChosenProps) {
  return (
    <Stack gap="xs">
      <FindField
        // Clears the field for the next one.
        key={chosen.length}
        kind={kind}
        label={label}
        option={null}
        without={chosen.map(({ id }) => id)}
        onChange={(option) => option && onChange([...chosen, option])}
      />
      {chosen.length > 0 && (
        <Group component="ul" className={styles.names} gap="xs" align="stretch" aria-label={label}>
          {chosen.map(({ id, label: name }) => (
            <li key={id}>
              {name}
              <ActionIcon
                variant="subtle"
                size="sm"
                aria-label={`Leave out ${name}`}
                onClick={() => onChange(chosen.filter((one) => one.id !== id))}
              >
                <CrossIcon />
              </ActionIcon>
            </li>
          ))}
        </Group>
      )}
    </Stack>
  );
}
