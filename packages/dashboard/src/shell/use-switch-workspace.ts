import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { paths } from './paths';
import { workspaceSelection } from './workspace-selection';

/** Switches this browser to another workspace, and resets everything that belonged to the old one. */
export function useSwitchWorkspace() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (workspaceId: string | null) => {
    workspaceSelection.choose(workspaceId);
    await queryClient.resetQueries();
    navigate(paths.home);
  };
}
