import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { lookOf } from '../../runs/run-status';
import { TRIGGER_WORDS } from '../../runs/run-words';
import { SearchIcon } from '../../ui/icons';
import styles from './filter-bar.module.css';
import { isNarrowed, type RunsFilter, STATUSES, type Surface, TRIGGERS, type Within } from './runs-filter';
import type { Named } from './use-names';

interface FilterBarProps {
  filter: RunsFilter;
  onChange: (filter: RunsFilter) => void;
  workers: Named[];
  automations: Named[];
  tags: string[];
}

const SPANS: Record<Within, string> = {
  hour: 'Last hour',
  day: 'Last 24 hours',
  week: 'Last 7 days',
  month: 'Last 30 days',
};

const BETWEEN = 'between';
const TYPING_MS = 300;

export function FilterBar({ filter, onChange, workers, automations, tags }: FilterBarProps) {
  const [between, setBetween] = useState(filter.from !== undefined || filter.to !== undefined);
  const change = (part: Partial<RunsFilter>) => onChange({ ...filter, ...part });
  const span = between ? BETWEEN : (filter.within ?? '');
  return (
    <search className={styles.bar} aria-label="Filter runs">
      <TextFilter value={filter.q ?? ''} onChange={(q) => change({ q })} />
      <NativeSelect
        size="sm"
        aria-label="Status"
        data={[
          { value: '', label: 'Any status' },
          ...STATUSES.map((status) => ({ value: status, label: lookOf({ status }).word })),
        ]}
        value={filter.status ?? ''}
        onChange={(event) => change({ status: event.currentTarget.value as RunsFilter['status'] })}
      />
      <NativeSelect
        size="sm"
        aria-label="Worker or automation"
        data={[
          { value: '', label: 'Everything' },
          { value: 'surface worker', label: 'All workers' },
          { value: 'surface automation', label: 'All automations' },
          { group: 'Workers', items: items('worker', workers, filter.worker) },
          { group: 'Automations', items: items('automation', automations, filter.automation) },
        ]}
        value={subjectIn(filter)}
        onChange={(event) => change(subjectOf(event.currentTarget.value))}
      />
      <NativeSelect
        size="sm"
        aria-label="Trigger"
        data={[
          { value: '', label: 'Any trigger' },
          ...TRIGGERS.map((trigger) => ({ value: trigger, label: TRIGGER_WORDS[trigger] })),
        ]}
        value={filter.trigger ?? ''}
        onChange={(event) => change({ trigger: event.currentTarget.value as RunsFilter['trigger'] })}
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
          onChange={(event) => change({ tag: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        size="sm"
        aria-label="Time"
        data={[
          { value: '', label: 'Any time' },
          ...Object.entries(SPANS).map(([value, label]) => ({ value, label })),
          { value: BETWEEN, label: 'Between two days…' },
        ]}
        value={span}
        onChange={(event) => {
          const value = event.currentTarget.value;
          setBetween(value === BETWEEN);
          const within = value === BETWEEN ? '' : value;
          change({ within: within as RunsFilter['within'], from: undefined, to: undefined });
        }}
      />
      {between && (
        <>
          <TextInput
            size="sm"
            type="date"
            aria-label="From"
            value={filter.from ?? ''}
            onChange={(event) => change({ from: event.currentTarget.value })}
          />
          <TextInput
            size="sm"
            type="date"
            aria-label="To"
            value={filter.to ?? ''}
            onChange={(event) => change({ to: event.currentTarget.value })}
          />
        </>
      )}
      {isNarrowed(filter) && (
        <Button
          variant="default"
          className={styles.clear}
          onClick={() => {
            setBetween(false);
            onChange({});
          }}
        >
          Clear filters
        </Button>
      )}
    </search>
  );
}

/** Applies the text filter once typing stops. */
function TextFilter({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing sends it.
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextInput
      size="sm"
      className={styles.text}
      type="search"
      aria-label="Name, or a run’s id"
      placeholder="Name, or a run’s id"
      maxLength={200}
      leftSection={<SearchIcon />}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}

/** Builds the options; a selected resource that is not in the list is labelled by its id. */
const items = (surface: Surface, named: Named[], chosen: string | undefined) =>
  [...named, ...(chosen && !named.some(({ id }) => id === chosen) ? [{ id: chosen, name: chosen }] : [])].map(
    ({ id, name }) => ({ value: `${surface} ${id}`, label: name }),
  );

function subjectIn({ surface, worker, automation }: RunsFilter): string {
  if (worker) return `worker ${worker}`;
  if (automation) return `automation ${automation}`;
  return surface ? `surface ${surface}` : '';
}

function subjectOf(value: string): Partial<RunsFilter> {
  const none = { surface: undefined, worker: undefined, automation: undefined };
  const [kind, id] = value.split(' ');
  return kind && id ? { ...none, [kind]: id } : none;
}
