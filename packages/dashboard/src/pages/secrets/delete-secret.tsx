import { Button, Checkbox } from '@mantine/core';
import { useState } from 'react';
import { toast } from '../../shell/toasts';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/notice';
import { useSecretChange } from './secret-queries';
import { type SecretRow, SURFACES, type Surface } from './secret-rows';
import styles from './secrets-page.module.css';

/** Asks, since no value can be brought back. */
export function DeleteSecret({ row: { name, there }, onClose }: { row: SecretRow; onClose: () => void }) {
  const { remove } = useSecretChange();
  const set = SURFACES.filter((surface) => there[surface]?.setAt != null);
  const [chosen, setChosen] = useState<readonly Surface[]>(set);
  return (
    <Dialog title={`Delete ${name}?`} onClose={onClose}>
      <div className={styles.form}>
        <p>The value can’t be brought back.</p>
        <ul className={styles.affected}>
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
                <p className={styles.hint}>
                  {names.length
                    ? `Runs of ${names.join(', ')} fail until it is set again.`
                    : `No ${surface.slice(0, -1)} names it.`}
                </p>
              </li>
            );
          })}
        </ul>
        <Failure title="Not everything was deleted" error={remove.error} />
        <div className={styles.buttons}>
          <Button variant="default" onClick={onClose}>
            Keep
          </Button>
          <Button
            color="red"
            loading={remove.isPending}
            disabled={chosen.length === 0}
            onClick={() =>
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
          >
            Delete
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
