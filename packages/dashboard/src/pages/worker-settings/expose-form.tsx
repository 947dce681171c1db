import { Checkbox, Stack } from '@mantine/core';
import { Link } from 'react-router';
import type { Worker } from '../../shell/api';
import { paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { Notice } from '../../ui/notice';
import { SettingsForm } from './settings-form';

/** Selects the values that code gets itself; renders nothing without declared secrets and connections. */
export function ExposeForm({ worker }: { worker: Worker }) {
  const { secrets, connections, expose } = worker;
  const isAllowed = useWorkspace()?.allow_exposed_credentials ?? true;
  if (!secrets.length && !connections.length) return null;
  const renderChoices = (legend: string, names: string[]) =>
    names.length > 0 && (
      <Stack component="fieldset" gap="xs" style={{ alignSelf: 'start' }}>
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
      </Stack>
    );
  return (
    <SettingsForm
      worker={worker}
      title="Exposed values"
      about="For connections and secrets with allowed hosts, code receives placeholders, and the real values are only sent to those hosts. Expose a value only if the code needs it, because code can send exposed values anywhere."
      parseForm={(formData) => ({ expose: [...new Set(formData.getAll('expose').map(String))] })}
    >
      {renderChoices('Secrets', secrets)}
      {renderChoices('Connections', connections)}
      {!isAllowed && (
        <div className="full-row">
          <Notice tone="info" title="Exposing values isn’t allowed in this workspace">
            An admin turned this off in <Link to={paths.workspace}>workspace settings</Link>.
            {expose.length > 0 && ' Runs will fail until you clear all selections above.'}
          </Notice>
        </div>
      )}
    </SettingsForm>
  );
}
