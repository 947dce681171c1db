import { useQuery } from '@tanstack/react-query';
import { getWorkerBaseUrl } from '../shell/api';
import { mcpUrl } from '../shell/paths';
import { CopyableCode } from '../ui/copyable-code';

/** Loads the public base URL of the worker surface. */
export const useWorkerBaseUrl = () =>
  useQuery({ queryKey: ['worker-base-url'], queryFn: getWorkerBaseUrl, staleTime: Number.POSITIVE_INFINITY }).data;

/** Shows the command that connects an agent on a member's machine; the member signs in with the browser. */
export function ConnectAgentPanel() {
  const baseUrl = useWorkerBaseUrl();
  if (!baseUrl) return null;
  return <CopyableCode label="For Claude Code" code={`claude mcp add --transport http gantry ${mcpUrl(baseUrl)}`} />;
}

/** Instructions for signing in. */
export const CONNECT_INSTRUCTIONS =
  'Run this command, then enter /mcp in Claude Code. On the Gantry page that opens, choose which workspace and tools Claude Code can access. Other Model Context Protocol clients use the same URL. No token is required.';
