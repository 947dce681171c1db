import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, type Workspace } from '../../shell/api';
import { FormRow, handleSubmit } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

const FIELDS = [
  { name: 'run_days', label: 'Days to keep runs', least: 1 },
  { name: 'log_days', label: 'Days to keep logs', least: 1 },
  { name: 'runs_kept', label: 'Minimum runs to keep per worker', least: 0 },
] as const;

type RetentionFields = Record<(typeof FIELDS)[number]['name'], number>;

/** Edits the retention; shown to members who can edit the workspace. */
export function RetentionForm({ workspace }: { workspace: Workspace }) {
  const queryClient = useQueryClient();
  const params = { path: { workspace_id: workspace.id } };
  const { data, error } = useQuery({
    queryKey: ['workspace', workspace.id, 'retention'],
    queryFn: () => api.worker.GET('/api/workspaces/{workspace_id}', { params }),
  });
  const change = useMutation({
    mutationFn: (retention: RetentionFields) =>
      api.worker.PATCH('/api/workspaces/{workspace_id}', { params, body: { retention } }),
    onSuccess: () => queryClient.invalidateQueries(),
  });
  const submit = (formData: FormData) =>
    change.mutate(Object.fromEntries(FIELDS.map(({ name }) => [name, Number(formData.get(name))])) as RetentionFields);
  const retention = data?.retention;
  return (
    <Panel title="Retention">
      <p className="panel-text">
        If you lower a value, older runs and logs are deleted within an hour. Raising the value later doesn’t restore
        them.
      </p>
      {retention && (
        <FormRow mb="md" onSubmit={handleSubmit(submit)}>
          {FIELDS.map(({ name, label, least }) => (
            <TextInput
              key={name}
              type="number"
              name={name}
              label={label}
              description={`Up to ${retention.maximums[name]}`}
              defaultValue={retention[name]}
              min={least}
              max={retention.maximums[name]}
              step={1}
              required
            />
          ))}
          <Button type="submit" size="md" loading={change.isPending}>
            Save changes
          </Button>
        </FormRow>
      )}
      {change.isSuccess && <p role="status">Saved.</p>}
      <ErrorNotice title="Retention settings not saved" error={change.error ?? error} />
    </Panel>
  );
}
