import { ActionIcon, Box, Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { toast } from '../../shell/toasts';
import { bindText } from '../../ui/bind';
import { handleSubmit } from '../../ui/form';
import { CrossIcon } from '../../ui/icons';
import { MenuButton, menuItem } from '../../ui/menu-button';
import styles from './runs-page.module.css';
import { deleteFilter, type SavedFilter, saveFilter, useSavedFilters } from './saved-filters';

interface SavedFilterMenuProps {
  workspaceId: string;
  /** The query string of the URL; empty without any filter. */
  search: string;
  onChoose: (search: string) => void;
}

export function SavedFilterMenu({ workspaceId, search, onChoose }: SavedFilterMenuProps) {
  const savedFilters = useSavedFilters(workspaceId);
  const current = savedFilters.find((filter) => filter.search === search);

  function removeFilter(filter: SavedFilter) {
    deleteFilter(workspaceId, filter.name);
    toast(`“${filter.name}” removed`, { undo: () => saveFilter(workspaceId, filter) });
  }

  return (
    <MenuButton
      label="Saved filters"
      trigger={current?.name ?? 'Saved filters'}
      className={styles.savedButton}
      align="end"
    >
      {(close) => (
        <Stack gap="xs" w="min(18rem, 80vw)" p="xs" fz="sm">
          {savedFilters.length === 0 && <p>No saved filters yet. Filters you save are stored in this browser.</p>}
          <ul className={styles.savedList}>
            {savedFilters.map((filter) => (
              <li key={filter.name}>
                <button
                  type="button"
                  className={menuItem}
                  aria-current={filter === current || undefined}
                  onClick={() => {
                    onChoose(filter.search);
                    close();
                  }}
                >
                  {filter.name}
                </button>
                <ActionIcon variant="subtle" aria-label={`Delete ${filter.name}`} onClick={() => removeFilter(filter)}>
                  <CrossIcon />
                </ActionIcon>
              </li>
            ))}
          </ul>
          {search !== '' && (
            <SaveFilterForm
              onSave={(name) => {
                saveFilter(workspaceId, { name, search });
                toast(`Saved as “${name}”`);
                close();
              }}
            />
          )}
        </Stack>
      )}
    </MenuButton>
  );
}

function SaveFilterForm({ onSave }: { onSave: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <Box
      component="form"
      display="grid"
      style={{ gridTemplateColumns: 'minmax(0, 1fr) auto', gap: 'var(--space-2)' }}
      onSubmit={handleSubmit(() => name.trim() && onSave(name.trim()))}
    >
      <TextInput
        size="xs"
        aria-label="Filter name"
        placeholder="Filter name"
        maxLength={60}
        {...bindText(name, setName)}
      />
      <Button size="xs" type="submit" disabled={!name.trim()}>
        Save
      </Button>
    </Box>
  );
}
