import { NativeSelect } from '@mantine/core';
import { hasRoleAtLeast } from '../accounts/roles';
import { useWorkspace } from '../shell/use-me';

/** Selects the workers that may use the connection; members can only create private ones. */
export function ConnectionVisibilityField() {
  const role = useWorkspace()?.role;
  const workspaceOptions = hasRoleAtLeast(role, 'admin')
    ? [{ value: 'workspace', label: 'All workers in the workspace' }]
    : [];
  return (
    <NativeSelect
      name="visibility"
      label="Available to"
      data={[...workspaceOptions, { value: 'private', label: 'My private workers' }]}
    />
  );
}

export const parseVisibility = (formData: FormData): 'private' | 'workspace' =>
  formData.get('visibility') === 'workspace' ? 'workspace' : 'private';
