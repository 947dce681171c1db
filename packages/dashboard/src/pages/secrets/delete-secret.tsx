import { Checkbox, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { toast } from '../../shell/toasts';
import { FormDialog } from '../../ui/form-dialog';
import { useSecretChange } from './secret-queries';
import { type SecretRow, SURFACES, type Surface } from './secret-rows';

/** Asks for confirmation, since a deleted value cannot be restored. */
export function DeleteSecret({ row: { name, there }, onClose }: { row: SecretRow; onClose: () => void }) {
  const { remove } = useSecretChange();
  const set = SURFACES.filter((surface) => there[surface]?.setAt != null);
  const [chosen, setChosen] = useState<readonly Surface[]>(set);
  return (
    <FormDialog
      title={`Delete ${name}?`}
      submit="Delete"
      cancel="Keep"
      isDangerous
      isDisabled={chosen.length === 0}
      change={remove}
      failure="Not everything was deleted"
      onSubmit={() =>
        remove.mutate(
          { name, surfaces: chosen },
          {
            onSuccess: () => {
              toast(`${name} is deleted.`);
              onClose();
            },
          },
        )
      }
      onClose={onClose}
    >
      <p>The value can’t be brought back.</p>
      <Stack component="ul" gap="sm">
        {set.map((surface) => {
          const names = there[surface]?.usedBy.map((user) => user.name) ?? [];
          return (
            <li key={surface}>
              {set.length > 1 && (
                <Checkbox
                  label={`From ${surface}`}
                  checked={chosen.includes(surface)}
                  onChange={(event) =>
                    setChosen(
                      event.currentTarget.checked ? [...chosen, surface] : chosen.filter((one) => one !== surface),
                    )
                  }
                />
              )}
              <Text fz="xs" c="dimmed">
                {names.length
                  ? `Runs of ${names.join(', ')} fail until it is set again.`
                  : `No ${surface.slice(0, -1)} names it.`}
              </Text>
            </li>
          );
        })}
      </Stack>
    </FormDialog>
  );
}
