import { Checkbox, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { toast } from '../../shell/toasts';
import { FormDialog } from '../../ui/form-dialog';
import { useSecretMutations } from './secret-queries';
import { listSurfacesWithValue, type SecretRow, type Surface } from './secret-rows';

/** Asks for confirmation, since a deleted value cannot be restored. */
export function DeleteSecretDialog({ row, onClose }: { row: SecretRow; onClose: () => void }) {
  const { name, bySurface } = row;
  const { remove } = useSecretMutations();
  const surfacesWithValue = listSurfacesWithValue(row);
  const [selectedSurfaces, setSelectedSurfaces] = useState<readonly Surface[]>(surfacesWithValue);
  return (
    <FormDialog
      title={`Delete ${name}?`}
      submit="Delete"
      cancel="Keep"
      isDangerous
      isDisabled={selectedSurfaces.length === 0}
      mutation={remove}
      failure="Some values weren’t deleted"
      onSubmit={() =>
        remove.mutate(
          { name, surfaces: selectedSurfaces },
          {
            onSuccess: () => {
              toast(`${name} deleted`);
              onClose();
            },
          },
        )
      }
      onClose={onClose}
    >
      <p>This can’t be undone.</p>
      <Stack component="ul" gap="sm">
        {surfacesWithValue.map((surface) => {
          const names = bySurface[surface]?.usedBy.map((user) => user.name) ?? [];
          return (
            <li key={surface}>
              {surfacesWithValue.length > 1 && (
                <Checkbox
                  label={`Delete from ${surface}`}
                  checked={selectedSurfaces.includes(surface)}
                  onChange={(event) =>
                    setSelectedSurfaces(
                      event.currentTarget.checked
                        ? [...selectedSurfaces, surface]
                        : selectedSurfaces.filter((one) => one !== surface),
                    )
                  }
                />
              )}
              <Text fz="xs" c="dimmed">
                {names.length
                  ? `Runs will fail until the secret is set again: ${names.join(', ')}`
                  : `No ${surface.slice(0, -1)} uses this secret.`}
              </Text>
            </li>
          );
        })}
      </Stack>
    </FormDialog>
  );
}
