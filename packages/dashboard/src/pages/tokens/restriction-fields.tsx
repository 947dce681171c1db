import { ActionIcon, Box, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ToolsetCheckboxes } from '../../accounts/toolset-checkboxes';
import { bindChecked, bindText } from '../../ui/bind';
import { CrossIcon } from '../../ui/icons';
import type { Option } from '../../ui/search-select';
import { ResourceSearchField } from '../../workers/resource-search-field';
import { type Restriction, toRestrictionBody } from './restriction';

interface RestrictionFieldsProps {
  restriction: Restriction;
  onChange: (restriction: Restriction) => void;
}

/** Restricts a token further than its role; untouched fields restrict nothing. */
export function RestrictionFields({ restriction, onChange }: RestrictionFieldsProps) {
  const [isOpen, setOpen] = useState(false);
  const update = (change: Partial<Restriction>) => onChange({ ...restriction, ...change });
  const { toolsets, readonly, requireApproval, budgetUsd } = restriction;
  return (
    <details style={{ flexBasis: '100%' }} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{toRestrictionBody(restriction) ? 'Restricted' : 'Restrict access'}</summary>
      <Text maw="68ch" m="4px 0 16px" fz="sm" c="dimmed">
        For agents and jobs that need only limited access. A restricted token works only in this workspace, and tokens
        created with it inherit its restrictions.
      </Text>
      <Box
        className="auto-fit"
        __vars={{ '--column': '20rem' }}
        style={{ gap: 'var(--space-4) var(--space-5)', alignItems: 'start' }}
      >
        <ResourcePicker
          kind="worker"
          label="Only these workers"
          selected={restriction.workers}
          onChange={(workers) => update({ workers })}
        />
        <ResourcePicker
          kind="automation"
          label="Only these automations"
          selected={restriction.automations}
          onChange={(automations) => update({ automations })}
        />
        <Stack component="fieldset" gap="xs">
          <legend>Only these tools</legend>
          <Box display="grid" style={{ gridTemplateColumns: 'repeat(2, minmax(0, 1fr))', gap: 'var(--space-2)' }}>
            <ToolsetCheckboxes value={toolsets} onChange={(toolsets) => update({ toolsets })} />
          </Box>
        </Stack>
        <Stack component="fieldset" gap="xs">
          <legend>Permissions</legend>
          <Checkbox label="Read-only" {...bindChecked(readonly, (readonly) => update({ readonly }))} />
          <Checkbox
            label="Require approval for each run"
            {...bindChecked(requireApproval, (requireApproval) => update({ requireApproval }))}
          />
          <TextInput
            type="number"
            inputMode="decimal"
            min={0}
            max={1_000_000}
            step="any"
            label="Budget in USD"
            placeholder="No limit"
            description="Once its runs and chat calls, and those of tokens created with it, have cost this much, the token can’t start more runs."
            {...bindText(budgetUsd, (budgetUsd) => update({ budgetUsd }))}
          />
        </Stack>
      </Box>
    </details>
  );
}

interface ResourcePickerProps {
  kind: 'worker' | 'automation';
  label: string;
  selected: Option[];
  onChange: (selected: Option[]) => void;
}

function ResourcePicker({ kind, label, selected, onChange }: ResourcePickerProps) {
  return (
    <Stack gap="xs">
      <ResourceSearchField
        // Clears the field for the next one.
        key={selected.length}
        kind={kind}
        label={label}
        option={null}
        excludedIds={selected.map(({ id }) => id)}
        onChange={(option) => option && onChange([...selected, option])}
      />
      {selected.length > 0 && (
        <Group component="ul" className="wrap-anywhere" gap="xs" align="stretch" fz="sm" aria-label={label}>
          {selected.map(({ id, label: name }) => (
            <Group
              key={id}
              component="li"
              gap={4}
              wrap="nowrap"
              maw="100%"
              p="0 4px 0 8px"
              bg="var(--sunken)"
              bd="1px solid var(--line)"
              bdrs={6}
            >
              {name}
              <ActionIcon
                variant="subtle"
                size="sm"
                aria-label={`Remove ${name}`}
                onClick={() => onChange(selected.filter((one) => one.id !== id))}
              >
                <CrossIcon />
              </ActionIcon>
            </Group>
          ))}
        </Group>
      )}
    </Stack>
  );
}
