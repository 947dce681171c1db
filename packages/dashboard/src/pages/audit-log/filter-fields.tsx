import { Box, Button, NativeSelect } from '@mantine/core';
import type { MemberNames } from '../../audit/audit-message';
import { RESOURCE_TYPE_LABELS } from '../../audit/build-audit-message';
import { DateRange } from '../../ui/date-range';
import type { AuditFilter } from './audit-filter';

interface FilterFieldsProps {
  filter: AuditFilter;
  people: MemberNames;
  onChange: (change: Partial<AuditFilter>) => void;
  /** Undefined where nothing is filtered. */
  onClear: (() => void) | undefined;
}

export function FilterFields({ filter, people, onChange, onClear }: FilterFieldsProps) {
  const { person, kind, from, to } = filter;
  const isKnown = person === '' || people.has(person);
  return (
    <Box
      component="search"
      className="auto-fit"
      mb="md"
      __vars={{ '--column': '7.75rem' }}
      style={{ alignItems: 'end', gap: 'var(--space-3)' }}
    >
      <NativeSelect
        size="sm"
        label="Actor"
        value={person}
        data={[
          { value: '', label: 'All actors' },
          ...[...people].map(([value, label]) => ({ value, label })),
          ...(isKnown ? [] : [{ value: person, label: 'Unknown user' }]),
        ]}
        onChange={(event) => onChange({ person: event.currentTarget.value })}
      />
      <NativeSelect
        size="sm"
        label="Resource"
        value={kind}
        data={[
          { value: '', label: 'All resources' },
          ...Object.entries(RESOURCE_TYPE_LABELS).map(([value, label]) => ({ value, label })),
        ]}
        onChange={(event) => onChange({ kind: event.currentTarget.value })}
      />
      <DateRange from={from} to={to} onChange={onChange} isLabelled />
      {onClear && (
        <Button size="sm" variant="default" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </Box>
  );
}
