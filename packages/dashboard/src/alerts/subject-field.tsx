import { unwrap } from '@gantry/api-client';
import { NativeSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, workerApi } from '../shell/api';
import { useWorkspace } from '../shell/use-me';
import { type Option, SearchSelect } from '../ui/search-select';

/** Whose runs an alert is about. */
export interface Subject {
  kind: 'workspace' | 'worker' | 'automation';
  /** Null until one is chosen. */
  option: Option | null;
}

const KINDS = [
  { value: 'workspace', label: 'All workers and automations' },
  { value: 'worker', label: 'One worker' },
  { value: 'automation', label: 'One automation' },
] as const;

interface SubjectFieldProps {
  subject: Subject;
  problem: string | undefined;
  onChange: (subject: Subject) => void;
}

export function SubjectField({ subject, problem, onChange }: SubjectFieldProps) {
  const { kind, option } = subject;
  return (
    <>
      <NativeSelect
        label="About"
        value={kind}
        data={KINDS}
        onChange={(event) => onChange({ kind: event.currentTarget.value as Subject['kind'], option: null })}
      />
      {kind !== 'workspace' && (
        <Finder
          key={kind}
          kind={kind}
          option={option}
          problem={problem}
          onChange={(found) => onChange({ kind, option: found })}
        />
      )}
    </>
  );
}

const FOUND_MAX = 20;
const TYPING_MS = 150;

const find = {
  worker: async (q: string): Promise<Option[]> => {
    const query = { limit: FOUND_MAX, ...(q && { q }) };
    const found = await unwrap((await workerApi()).GET('/api/workers', { params: { query } }));
    return found.map(({ id, name }) => ({ id, label: name, hint: id }));
  },
  automation: async (q: string): Promise<Option[]> => {
    const query = { limit: FOUND_MAX, ...(q && { q }) };
    const { automations } = await unwrap(api.GET('/api/automations', { params: { query } }));
    return automations.map(({ id, name }) => ({ id, label: name }));
  },
};

interface FinderProps {
  kind: 'worker' | 'automation';
  option: Option | null;
  problem: string | undefined;
  onChange: (option: Option | null) => void;
}

/** Searched by the server, so that it finds one among any number. */
function Finder({ kind, option, problem, onChange }: FinderProps) {
  const workspaceId = useWorkspace()?.id;
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text, TYPING_MS);
  const found = useQuery({
    queryKey: [`${kind}s`, workspaceId, 'options', q],
    enabled: workspaceId !== undefined,
    placeholderData: keepPreviousData,
    queryFn: () => find[kind](q),
  });
  return (
    <SearchSelect
      label={kind === 'worker' ? 'Worker' : 'Automation'}
      placeholder="Search by name"
      error={problem}
      value={option}
      options={found.data ?? []}
      isSearching={found.isFetching || q !== text}
      onSearch={setText}
      onChange={onChange}
    />
  );
}
