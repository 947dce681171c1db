import { CONNECT_INSTRUCTIONS, ConnectAgentPanel } from '../../accounts/connect-agent-panel';
import { SettingsLayout } from '../../settings/settings-layout';
import { api } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { Panel } from '../../ui/panel';
import { ConnectedApps } from './connected-apps';
import { SkillKeys } from './skill-keys';
import { type TokenActions, TokenPanel } from './token-panel';

const toRevocationParams = ({ id, withDescendants }: { id: string; withDescendants: boolean }) => ({
  path: { token_id: id },
  query: { with_made: withDescendants },
});

const personalTokenActions: TokenActions = {
  list: () => api.account.GET('/auth/tokens'),
  create: (body) => api.account.POST('/auth/tokens', { body }),
  revoke: (token) => api.account.DELETE('/auth/tokens/{token_id}', { params: toRevocationParams(token) }),
};

const workspaceTokenActions: TokenActions = {
  list: () => api.worker.GET('/api/workspace/tokens'),
  create: (body) => api.worker.POST('/api/workspace/tokens', { body }),
  revoke: (token) => api.worker.DELETE('/api/workspace/tokens/{token_id}', { params: toRevocationParams(token) }),
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
        <p className="panel-text">{CONNECT_INSTRUCTIONS}</p>
        <ConnectAgentPanel />
      </Panel>
      <ConnectedApps />
      <SkillKeys />
    </SettingsLayout>
  );
}
