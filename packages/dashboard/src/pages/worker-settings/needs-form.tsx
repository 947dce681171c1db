import { unwrap } from '@gantry/sdk';
import { Checkbox, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { type Worker, workerApi } from '../../shell/api';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { textIn } from '../../ui/text-in';
import { SettingsForm } from './settings-form';
import styles from './settings-form.module.css';

const NAMES_MAX = 200;

/** Selects the connections, secrets and contexts that the code gets. */
export function NeedsForm({ worker }: { worker: Worker }) {
  const workspaceId = useWorkspace()?.id;
  const secrets = useQuery({
    queryKey: ['secrets', workspaceId, 'names'],
    queryFn: async () => unwrap((await workerApi()).GET('/api/secrets', { params: { query: { limit: NAMES_MAX } } })),
    select: (items) => items.map(({ name }) => name),
  });
  const contexts = useQuery({
    queryKey: ['contexts', workspaceId, 'names'],
    queryFn: async () => unwrap((await workerApi()).GET('/api/contexts', { params: { query: { limit: NAMES_MAX } } })),
    select: (items) => items.map(({ name }) => name),
  });
  const connections = useQuery({
    queryKey: ['connections', workspaceId, 'names'],
    queryFn: async () => unwrap((await workerApi()).GET('/api/connections')),
    select: (items) => items.map(({ app }) => app),
  });
  return (
    <SettingsForm
      worker={worker}
      title="Connections, secrets and contexts"
      about={`Its ${worker.runner === 'agent' ? 'tools' : 'code'} may use only those that are chosen here.`}
      read={(given) => {
        const [connections, secrets] = [namesIn(given, 'connections'), namesIn(given, 'secrets')];
        const isDeclared = (name: string) => secrets.includes(name) || connections.includes(name);
        const kept = { expose: worker.expose.filter(isDeclared), in_body: worker.in_body.filter(isDeclared) };
        return { connections, secrets, contexts: namesIn(given, 'contexts'), ...kept };
      }}
    >
      <Names
        name="connections"
        legend="Connections"
        chosen={worker.connections}
        known={connections.data}
        missing={worker.connection_problems ?? []}
        missingWord="does not work"
      />
      <Names
        name="secrets"
        legend="Secrets"
        chosen={worker.secrets}
        known={secrets.data}
        missing={worker.missing_secrets}
      />
      <Names name="contexts" legend="Contexts" chosen={worker.contexts} known={contexts.data} missing={[]} />
      <p className={`${styles.wide} ${styles.about}`}>
        They are created under <Link to={paths.connections}>Connections</Link>, <Link to={paths.secrets}>Secrets</Link> and{' '}
        <Link to={paths.contexts}>Contexts</Link>.
      </p>
    </SettingsForm>
  );
}

const more = (name: string): string => `more-${name}`;

function namesIn(given: FormData, name: string): string[] {
  const typed = textIn(given, more(name)).split(/[\s,]+/);
  return [...new Set([...given.getAll(name).map(String), ...typed])].filter((one) => one !== '');
}

interface NamesProps {
  name: string;
  legend: string;
  chosen: string[];
  /** Undefined while they load. */
  known: string[] | undefined;
  missing: string[];
  missingWord?: string;
}

function Names({ name, legend, chosen, known = [], missing, missingWord = 'not set yet' }: NamesProps) {
  const all = [...new Set([...chosen, ...known])].sort();
  return (
    <fieldset className={styles.choices}>
      <legend>{legend}</legend>
      {all.map((one) => (
        <Checkbox
          key={one}
          name={name}
          value={one}
          label={missing.includes(one) ? `${one}, ${missingWord}` : one}
          defaultChecked={chosen.includes(one)}
        />
      ))}
      <TextInput name={more(name)} aria-label={`More ${name}`} placeholder="Another name" autoComplete="off" />
    </fieldset>
  );
}
