import { Checkbox, Stack, TextInput } from '@mantine/core';
import { Link } from 'react-router';
import { api, type Worker } from '../../shell/api';
import { paths } from '../../shell/paths';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { getFormText } from '../../ui/form-text';
import { SettingsForm } from './settings-form';

const NAMES_MAX = 200;

/** Selects the connections, secrets and contexts that the code gets. */
export function DependenciesForm({ worker }: { worker: Worker }) {
  const params = { query: { limit: NAMES_MAX } };
  const secrets = useWorkspaceQuery(
    (workspaceId) => ['secrets', workspaceId, 'names'],
    () => api.worker.GET('/api/secrets', { params }),
  );
  const contexts = useWorkspaceQuery(
    (workspaceId) => ['contexts', workspaceId, 'names'],
    () => api.worker.GET('/api/contexts', { params }),
  );
  const connections = useWorkspaceQuery(
    (workspaceId) => ['connections', workspaceId, 'names'],
    () => api.worker.GET('/api/connections'),
  );
  return (
    <SettingsForm
      worker={worker}
      title="Connections, secrets and contexts"
      about={`${worker.runner === 'agent' ? 'Tools' : 'Code'} can only use the connections, secrets and contexts selected here.`}
      parseForm={(formData) => ({
        connections: parseNames(formData, 'connections'),
        secrets: parseNames(formData, 'secrets'),
        contexts: parseNames(formData, 'contexts'),
      })}
    >
      <NameCheckboxes
        name="connections"
        legend="Connections"
        declared={worker.connections}
        available={connections.data?.map(({ app }) => app)}
        missing={worker.connection_problems ?? []}
        missingLabel="not working"
      />
      <NameCheckboxes
        name="secrets"
        legend="Secrets"
        declared={worker.secrets}
        available={secrets.data?.map(({ name }) => name)}
        missing={worker.missing_secrets}
      />
      <NameCheckboxes
        name="contexts"
        legend="Contexts"
        declared={worker.contexts}
        available={contexts.data?.map(({ name }) => name)}
        missing={[]}
      />
      <p className="help-text full-row">
        To add more, go to <Link to={paths.connections}>Connections</Link>, <Link to={paths.secrets}>Secrets</Link> or{' '}
        <Link to={paths.contexts}>Contexts</Link>.
      </p>
    </SettingsForm>
  );
}

const buildExtraFieldName = (name: string): string => `more-${name}`;

function parseNames(formData: FormData, name: string): string[] {
  const typedNames = getFormText(formData, buildExtraFieldName(name)).split(/[\s,]+/);
  return [...new Set([...formData.getAll(name).map(String), ...typedNames])].filter((one) => one !== '');
}

interface NameCheckboxesProps {
  name: string;
  legend: string;
  declared: string[];
  /** Undefined while they load. */
  available: string[] | undefined;
  missing: string[];
  missingLabel?: string;
}

function NameCheckboxes({
  name,
  legend,
  declared,
  available = [],
  missing,
  missingLabel = 'not set',
}: NameCheckboxesProps) {
  const options = [...new Set([...declared, ...available])].sort();
  return (
    <Stack component="fieldset" gap="xs" style={{ alignSelf: 'start' }}>
      <legend>{legend}</legend>
      {options.map((one) => (
        <Checkbox
          key={one}
          name={name}
          value={one}
          label={missing.includes(one) ? `${one} (${missingLabel})` : one}
          defaultChecked={declared.includes(one)}
        />
      ))}
      <TextInput
        name={buildExtraFieldName(name)}
        aria-label={`Add ${name} by name`}
        placeholder="Add by name"
        autoComplete="off"
      />
    </Stack>
  );
}
