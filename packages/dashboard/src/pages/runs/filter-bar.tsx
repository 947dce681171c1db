import { Button, Group, NativeSelect } from '@mantine/core';
import { useEffect, useState } from 'react';
import { getRunStatusDisplay } from '../../runs/run-status';
import { TRIGGER_LABELS } from '../../runs/trigger-labels';
import { DateRange } from '../../ui/date-range';
import { SearchField } from '../../ui/search-field';
import styles from './filter-bar.module.css';
import { hasFilters, type RunsFilter, STATUSES, type Surface, type TimeWindow, TRIGGERS } from './runs-filter';
import type { NamedResource } from './use-resource-names';

interface FilterBarProps {
  filter: RunsFilter;
  onChange: (filter: RunsFilter) => void;
  workers: NamedResource[];
  automations: NamedResource[];
  tags: string[];
}

const TIME_WINDOW_LABELS: Record<TimeWindow, string> = {
  hour: 'Last hour',
  day: 'Last 24 hours',
  week: 'Last 7 days',
  month: 'Last 30 days',
};

const CUSTOM_RANGE = 'between';
const SEARCH_DEBOUNCE_MS = 300;

export function FilterBar({ filter, onChange, workers, automations, tags }: FilterBarProps) {
  const [isCustomRange, setCustomRange] = useState(filter.from !== undefined || filter.to !== undefined);
  const updateFilter = (part: Partial<RunsFilter>) => onChange({ ...filter, ...part });
  const timeRange = isCustomRange ? CUSTOM_RANGE : (filter.within ?? '');
  return (
    <Group component="search" className={styles.bar} gap="xs" mb="sm" aria-label="Filter runs">
      <TextFilter value={filter.q ?? ''} onChange={(q) => updateFilter({ q })} />
      <NativeSelect
        size="sm"
        aria-label="Status"
        data={[
          { value: '', label: 'Any status' },
          ...STATUSES.map((status) => ({ value: status, label: getRunStatusDisplay({ status }).word })),
        ]}
        value={filter.status ?? ''}
        onChange={(event) => updateFilter({ status: event.currentTarget.value as RunsFilter['status'] })}
      />
      <NativeSelect
        size="sm"
        aria-label="Worker or automation"
        data={[
          { value: '', label: 'Workers and automations' },
          { value: 'surface worker', label: 'All workers' },
          { value: 'surface automation', label: 'All automations' },
          { group: 'Workers', items: toOptions('worker', workers, filter.worker) },
          { group: 'Automations', items: toOptions('automation', automations, filter.automation) },
        ]}
        value={toSubjectValue(filter)}
        onChange={(event) => updateFilter(parseSubjectValue(event.currentTarget.value))}
      />
      <NativeSelect
        size="sm"
        aria-label="Trigger"
        data={[
          { value: '', label: 'Any trigger' },
          ...TRIGGERS.map((trigger) => ({ value: trigger, label: TRIGGER_LABELS[trigger] })),
        ]}
        value={filter.trigger ?? ''}
        onChange={(event) => updateFilter({ trigger: event.currentTarget.value as RunsFilter['trigger'] })}
      />
      {(tags.length > 0 || filter.tag !== undefined) && (
        <NativeSelect
          size="sm"
          aria-label="Tag"
          data={[
            { value: '', label: 'Any tag' },
            ...[...new Set([...tags, ...(filter.tag ? [filter.tag] : [])])].map((tag) => ({ value: tag, label: tag })),
          ]}
          value={filter.tag ?? ''}
          onChange={(event) => updateFilter({ tag: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        size="sm"
        aria-label="Time"
        data={[
          { value: '', label: 'Any time' },
          ...Object.entries(TIME_WINDOW_LABELS).map(([value, label]) => ({ value, label })),
          { value: CUSTOM_RANGE, label: 'Custom range…' },
        ]}
        value={timeRange}
        onChange={(event) => {
          const value = event.currentTarget.value;
          setCustomRange(value === CUSTOM_RANGE);
          const within = value === CUSTOM_RANGE ? '' : value;
          updateFilter({ within: within as RunsFilter['within'], from: undefined, to: undefined });
        }}
      />
      {isCustomRange && <DateRange from={filter.from ?? ''} to={filter.to ?? ''} onChange={updateFilter} />}
      {hasFilters(filter) && (
        <Button
          variant="default"
          className={styles.clear}
          onClick={() => {
            setCustomRange(false);
            onChange({});
          }}
        >
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** Applies the text filter once typing stops. */
function TextFilter({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing sends it.
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim()), SEARCH_DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <SearchField
      size="sm"
      className={styles.text}
      label="Name or run ID"
      maxLength={200}
      value={text}
      onChange={setText}
    />
  );
}

/** Builds the options; a selected resource that is not in the list is labelled by its id. */
const toOptions = (surface: Surface, resources: NamedResource[], selectedId: string | undefined) =>
  [
    ...resources,
    ...(selectedId && !resources.some(({ id }) => id === selectedId) ? [{ id: selectedId, name: selectedId }] : []),
  ].map(({ id, name }) => ({ value: `${surface} ${id}`, label: name }));

function toSubjectValue({ surface, worker, automation }: RunsFilter): string {
  if (worker) return `worker ${worker}`;
  if (automation) return `automation ${automation}`;
  return surface ? `surface ${surface}` : '';
}

function parseSubjectValue(value: string): Partial<RunsFilter> {
  const none = { surface: undefined, worker: undefined, automation: undefined };
  const [kind, id] = value.split(' ');
  return kind && id ? { ...none, [kind]: id } : none;
}
