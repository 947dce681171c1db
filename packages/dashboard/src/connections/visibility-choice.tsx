import { NativeSelect } from '@mantine/core';
import { roleAtLeast } from '../accounts/roles';
import { useWorkspace } from '../shell/use-me';

/** Selects the workers that may use the connection; members can only create private ones. */
export function VisibilityChoice() {
  const role = useWorkspace()?.role;
  const everybody = roleAtLeast(role, 'admin') ? [{ value: 'workspace', label: 'All workers of the workspace' }] : [];
  return (
    <NativeSelect
      name="visibility"
      label="Available to"
      data={[...everybody, { value: 'private', label: 'My private workers' }]}
    />
  );
}

export const visibilityIn = (given: FormData): 'private' | 'workspace' =>
  given.get('visibility') === 'workspace' ? 'workspace' : 'private';
