import { unwrap } from '@gantry/sdk';
import { CONNECT_INSTRUCTIONS, ConnectAgentPanel } from '../../accounts/connect-agent-panel';
import { SettingsLayout } from '../../settings/settings-layout';
import { accountApi, getWorkerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { Panel } from '../../ui/panel';
import content from '../../ui/panel-content.module.css';
import { ConnectedApps } from './connected-apps';
import { SkillKeys } from './skill-keys';
import { type TokenActions, TokenPanel } from './token-panel';

const toRevocationParams = ({ id, withDescendants }: { id: string; withDescendants: boolean }) => ({
  path: { token_id: id },
  query: { with_made: withDescendants },
});

const personalTokenActions: TokenActions = {
  list: () => unwrap(accountApi.GET('/auth/tokens')),
  create: (body) => unwrap(accountApi.POST('/auth/tokens', { body })),
  revoke: (token) => unwrap(accountApi.DELETE('/auth/tokens/{token_id}', { params: toRevocationParams(token) })),
};

const workspaceTokenActions: TokenActions = {
  list: async () => unwrap((await getWorkerApi()).GET('/api/workspace/tokens')),
  create: async (body) => unwrap((await getWorkerApi()).POST('/api/workspace/tokens', { body })),
  revoke: async (token) =>
    unwrap((await getWorkerApi()).DELETE('/api/workspace/tokens/{token_id}', { params: toRevocationParams(token) })),
};

export default function TokensPage() {
  const workspace = useWorkspace();
  return (
    <SettingsLayout
      title="Tokens"
      about="Credentials for scripts and apps. Revoked tokens stop working everywhere within seconds."
    >
      <TokenPanel
        title="Personal tokens"
        about="For scripts and apps that act as you in all your workspaces."
        queryKey={['tokens', 'personal']}
        actions={personalTokenActions}
      />
      {workspace?.permissions.manage_tokens && (
        <TokenPanel
          title={`${workspace.name} tokens`}
          about="For scripts and apps that act on behalf of this workspace only. These tokens keep working after you leave."
          queryKey={['tokens', workspace.id]}
          actions={workspaceTokenActions}
        />
      )}
      <Panel title="Connect an agent">
        <p className={content.text}>{CONNECT_INSTRUCTIONS}</p>
        <ConnectAgentPanel />
      </Panel>
      <ConnectedApps />
      <SkillKeys />
    </SettingsLayout>
  );
}
