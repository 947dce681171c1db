import { Checkbox } from '@mantine/core';
import { Link } from 'react-router';
import type { Worker } from '../../shell/api';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { Notice } from '../../ui/notice';
import { SettingsForm } from './settings-form';
import styles from './settings-form.module.css';

/** Selects the values that code gets itself; renders nothing without declared secrets and connections. */
export function ExposeForm({ worker }: { worker: Worker }) {
  const { secrets, connections, expose } = worker;
  const isAllowed = useWorkspace()?.allow_exposed_credentials ?? true;
  if (!secrets.length && !connections.length) return null;
  const renderChoices = (legend: string, names: string[]) =>
    names.length > 0 && (
      <fieldset className={styles.choices}>
        <legend>{legend}</legend>
        {names.map((name) => (
          <Checkbox
            key={name}
            name="expose"
            value={name}
            label={name}
            defaultChecked={expose.includes(name)}
            disabled={!isAllowed && !expose.includes(name)}
          />
        ))}
      </fieldset>
    );
  return (
    <SettingsForm
      worker={worker}
      title="Values in code"
      about="Code gets placeholders for connections and for secrets with hosts; the values are sent only to those hosts. Expose only what code needs: it can send an exposed value anywhere."
      parseForm={(formData) => ({ expose: [...new Set(formData.getAll('expose').map(String))] })}
    >
      {renderChoices('Secrets', secrets)}
      {renderChoices('Connections', connections)}
      {!isAllowed && (
        <div className={styles.wide}>
          <Notice tone="info" title="Not allowed in this workspace">
            Admins turned this off under <Link to={paths.workspace}>Workspace</Link>.
            {expose.length > 0 && ' Runs will fail until nothing is selected here.'}
          </Notice>
        </div>
      )}
    </SettingsForm>
  );
}
