import { unwrap } from '@gantry/sdk';
import { Checkbox, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { getWorkerApi, type Worker } from '../../shell/api';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { getFormText } from '../../ui/form-text';
import { SettingsForm } from './settings-form';
import styles from './settings-form.module.css';

const NAMES_MAX = 200;

/** Selects the connections, secrets and contexts that the code gets. */
export function DependenciesForm({ worker }: { worker: Worker }) {
  const workspaceId = useWorkspace()?.id;
  const secrets = useQuery({
    queryKey: ['secrets', workspaceId, 'names'],
    queryFn: async () =>
      unwrap((await getWorkerApi()).GET('/api/secrets', { params: { query: { limit: NAMES_MAX } } })),
    select: (items) => items.map(({ name }) => name),
  });
  const contexts = useQuery({
    queryKey: ['contexts', workspaceId, 'names'],
    queryFn: async () =>
      unwrap((await getWorkerApi()).GET('/api/contexts', { params: { query: { limit: NAMES_MAX } } })),
    select: (items) => items.map(({ name }) => name),
  });
  const connections = useQuery({
    queryKey: ['connections', workspaceId, 'names'],
    queryFn: async () => unwrap((await getWorkerApi()).GET('/api/connections')),
    select: (items) => items.map(({ app }) => app),
  });
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
        available={connections.data}
        missing={worker.connection_problems ?? []}
        missingLabel="not working"
      />
      <NameCheckboxes
        name="secrets"
        legend="Secrets"
        declared={worker.secrets}
        available={secrets.data}
        missing={worker.missing_secrets}
      />
      <NameCheckboxes
        name="contexts"
        legend="Contexts"
        declared={worker.contexts}
        available={contexts.data}
        missing={[]}
      />
      <p className={`${styles.wide} ${styles.about}`}>
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
    <fieldset className={styles.choices}>
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
    </fieldset>
  );
}
