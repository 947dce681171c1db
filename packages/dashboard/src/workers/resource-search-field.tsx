import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';
import { type Option, SearchSelect } from '../ui/search-select';

const RESULTS_MAX = 20;
const SEARCH_DEBOUNCE_MS = 150;

const searchByKind = {
  worker: async (q: string): Promise<Option[]> => {
    const query = { limit: RESULTS_MAX, ...(q && { q }) };
    const found = await api.worker.GET('/api/workers', { params: { query } });
    return found.map(({ id, name }) => ({ id, label: name, hint: id }));
  },
  automation: async (q: string): Promise<Option[]> => {
    const query = { limit: RESULTS_MAX, ...(q && { q }) };
    const { automations } = await api.automation.GET('/api/automations', { params: { query } });
    return automations.map(({ id, name }) => ({ id, label: name }));
  },
};

interface ResourceSearchFieldProps {
  kind: 'worker' | 'automation';
  label: string;
  option: Option | null;
  /** Ids that are not offered. */
  excludedIds?: readonly string[];
  problem?: string | undefined;
  onChange: (option: Option | null) => void;
}

/** Selects a worker or an automation by a search on the server, so that it works for any number. */
export function ResourceSearchField({
  kind,
  label,
  option,
  excludedIds = [],
  problem,
  onChange,
}: ResourceSearchFieldProps) {
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text, SEARCH_DEBOUNCE_MS);
  const found = useWorkspaceQuery(
    (workspaceId) => [`${kind}s`, workspaceId, 'options', q],
    () => searchByKind[kind](q),
    { placeholderData: keepPreviousData },
  );
  return (
    <SearchSelect
      label={label}
      placeholder="Search by name"
      error={problem}
      value={option}
      options={(found.data ?? []).filter(({ id }) => !excludedIds.includes(id))}
      isSearching={found.isFetching || q !== text}
      onSearch={setText}
      onChange={onChange}
    />
  );
}
