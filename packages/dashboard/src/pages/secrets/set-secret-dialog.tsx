import { Box, Checkbox, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { splitNames } from '../../connections/connection-labels';
import { PlacesField } from '../../connections/places-field';
import { toast, toastWarnings } from '../../shell/toasts';
import { bindChecked, bindText } from '../../ui/bind';
import { CheckboxList } from '../../ui/checkbox-list';
import { FormDialog } from '../../ui/form-dialog';
import { getFormText } from '../../ui/form-text';
import { HostRows, removeEmptyRows, toHostRows } from '../../ui/host-rows';
import { useSecretMutations } from './secret-queries';
import {
  listSurfacesWithValue,
  type SecretRow,
  SURFACE_LABELS,
  SURFACES,
  type Surface,
  type SurfaceSecret,
} from './secret-rows';
import styles from './set-secret-dialog.module.css';

interface SetSecretDialogProps {
  /** Empty for a new one. */
  name: string;
  existingRows: SecretRow[];
  onClose: () => void;
}

const HOSTS_MAX = 64;
const DEFAULT_PLACES = ['header'];
const NAME_PATTERN = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Sets or replaces a value on one or both surfaces. */
export function SetSecretDialog({ name: initialName, existingRows, onClose }: SetSecretDialogProps) {
  const row = existingRows.find((one) => one.name === initialName);
  const { set } = useSecretMutations();
  const [name, setName] = useState(initialName);
  const [value, setValue] = useState('');
  const [isVisible, setVisible] = useState(false);
  const [surfaces, setSurfaces] = useState<readonly Surface[]>(() => suggestSurfaces(row));
  const secretWithHosts = findSecretWithHosts(row);
  const [hosts, setHosts] = useState(() => toHostRows(secretWithHosts?.hosts ?? []));
  const [problem, setProblem] = useState<string>();
  const isNew = initialName === '';
  const existing = existingRows.find((one) => one.name === name);
  const overwrites = surfaces.some((surface) => existing?.bySurface[surface]?.setAt != null);

  function handleSubmit(event: FormEvent<HTMLFormElement>) {
    if (!NAME_PATTERN.test(name)) {
      setProblem('Use up to 64 capital letters, digits and underscores, starting with a letter.');
      return;
    }
    const chosenHosts = removeEmptyRows(hosts).map(({ host }) => host.trim());
    const places = splitNames(getFormText(new FormData(event.currentTarget), 'places'));
    set.mutate(
      { name, value, surfaces, hosts: chosenHosts, ...(chosenHosts.length && { places }) },
      {
        onSuccess: ({ warnings }) => {
          toast(`${name} set for ${surfaces.join(' and ')}`);
          toastWarnings(name, warnings);
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title={isNew ? 'New secret' : `Set ${initialName}`}
      submit={overwrites ? 'Replace' : 'Set'}
      isDisabled={!name || !value || surfaces.length === 0}
      mutation={set}
      failure="Some values not saved"
      onSubmit={handleSubmit}
      onClose={onClose}
    >
      {isNew && (
        <TextInput
          label="Name"
          description="The name of the environment variable."
          placeholder="CRM_TOKEN"
          className="code-field"
          autoCapitalize="characters"
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          value={name}
          error={problem}
          onChange={(event) => {
            setName(event.currentTarget.value.toUpperCase().replaceAll(/[\s-]/g, '_'));
            setProblem(undefined);
          }}
        />
      )}
      <Textarea
        label="Value"
        description={
          hosts.length
            ? 'A single line of up to 16 KB. Spaces are preserved.'
            : 'Up to 32 KB. Line breaks and spaces are preserved.'
        }
        className={`code-field ${isVisible ? '' : styles.masked}`}
        rows={3}
        autoComplete="off"
        spellCheck={false}
        {...bindText(value, setValue)}
      />
      <Checkbox label="Show value" {...bindChecked(isVisible, setVisible)} />
      <Stack component="fieldset" gap="xs">
        <Box component="legend" fz="sm">
          Hosts
        </Box>
        <Text fz="xs" c="dimmed">
          {hosts.length
            ? 'Code gets a placeholder, and the value is sent only to these hosts. Use *.example.com for all subdomains.'
            : 'If no hosts are set, code gets the value itself. If you add hosts, code gets a placeholder, and the value is sent only to those hosts.'}
        </Text>
        <HostRows label="Hosts" rows={hosts} onChange={setHosts} example="api.example.com" most={HOSTS_MAX} />
        {hosts.length > 0 && <PlacesField places={secretWithHosts?.places ?? DEFAULT_PLACES} />}
      </Stack>
      <Group component="fieldset" gap="8px 24px" align="stretch">
        <Box component="legend" fz="sm">
          Available to
        </Box>
        <CheckboxList options={SURFACES} labels={SURFACE_LABELS} value={surfaces} onChange={setSurfaces} />
      </Group>
      {overwrites && (
        <Text fz="xs" c="dimmed">
          The new value applies the next time a run starts. The old value is deleted.
        </Text>
      )}
    </FormDialog>
  );
}

/** Finds the first surface that has hosts, whose hosts and places the form shows. */
const findSecretWithHosts = (row: SecretRow | undefined): SurfaceSecret | undefined =>
  SURFACES.map((surface) => row?.bySurface[surface]).find((there) => there?.hosts.length);

/** Suggests the surfaces where it is missing, else those where it is set, else all. */
function suggestSurfaces(row: SecretRow | undefined): readonly Surface[] {
  if (row?.missing.length) return row.missing;
  const set = row ? listSurfacesWithValue(row) : [];
  return set.length ? set : SURFACES;
}
