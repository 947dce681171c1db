import { Box, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { bindText } from '../../ui/bind';
import { CheckIcon, DownIcon } from '../../ui/icons';
import { MenuButton, menuItem } from '../../ui/menu-button';
import { api } from '../api';
import { useMe } from '../use-me';
import { useSwitchWorkspace } from '../use-switch-workspace';
import styles from './workspace-switcher.module.css';

/** Shorter lists are read faster than they are searched. */
const SEARCH_MIN_WORKSPACES = 8;

/** Switches the workspace and opens the overview, since the page belonged to the other workspace. */
export function WorkspaceSwitcher() {
  const { data: me } = useMe();
  const moveTo = useSwitchWorkspace();
  const [query, setQuery] = useState('');
  const select = useMutation({
    mutationFn: (workspaceId: string) =>
      api.worker.POST('/api/workspaces/{workspace_id}/select', { params: { path: { workspace_id: workspaceId } } }),
    // This browser switches even if the server could not make it the default of the next sign-in.
    onSettled: (_data, _error, workspaceId) => moveTo(workspaceId),
  });
  if (!me?.workspace_id) return null;
  const current = me.workspaces.find(({ id }) => id === me.workspace_id);
  if (me.workspaces.length < 2)
    return (
      <Box component="p" className="wrap-anywhere" p="4px 12px" fz="sm" c="dimmed">
        {current?.name}
      </Box>
    );
  const found = me.workspaces.filter(({ name }) => name.toLowerCase().includes(query.trim().toLowerCase()));
  return (
    <MenuButton
      label={`Workspace: ${current?.name ?? ''}`}
      className={styles.button}
      trigger={
        <>
          <Text span truncate>
            {current?.name}
          </Text>
          <DownIcon />
        </>
      }
    >
      {(close) => (
        <>
          {me.workspaces.length >= SEARCH_MIN_WORKSPACES && (
            <input
              type="search"
              className={styles.search}
              aria-label="Find a workspace"
              placeholder="Find a workspace"
              {...bindText(query, setQuery)}
            />
          )}
          <Box component="ul" mah="18rem" style={{ overflowY: 'auto' }}>
            {found.map(({ id, name }) => (
              <li key={id}>
                <button
                  type="button"
                  className={menuItem}
                  aria-current={id === me.workspace_id}
                  disabled={select.isPending}
                  onClick={() => {
                    close();
                    setQuery('');
                    if (id !== me.workspace_id) select.mutate(id);
                  }}
                >
                  <Text span flex={1}>
                    {name}
                  </Text>
                  {id === me.workspace_id && <CheckIcon />}
                </button>
              </li>
            ))}
          </Box>
          {found.length === 0 && (
            <Box component="p" className="wrap-anywhere" p="4px 12px" fz="sm" c="dimmed">
              No matching workspaces.
            </Box>
          )}
        </>
      )}
    </MenuButton>
  );
}
