import { unwrap } from '@gantry/sdk';
import { CONNECT_INSTRUCTIONS, ConnectAgentPanel } from '../../accounts/connect-agent';
import { SettingsFrame } from '../../settings/settings-frame';
import { account, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { Panel } from '../../ui/panel';
import content from '../../ui/panel-content.module.css';
import { ConnectedApps } from './connected-apps';
import { SkillKeys } from './skill-keys';
import { type TokenActions, TokenPanel } from './token-panel';

const revocationParams = ({ id, withDescendants }: { id: string; withDescendants: boolean }) => ({
  path: { token_id: id },
  query: { with_made: withDescendants },
});

const personalTokenActions: TokenActions = {
  list: () => unwrap(account.GET('/auth/tokens')),
  create: (body) => unwrap(account.POST('/auth/tokens', { body })),
  revoke: (token) => unwrap(account.DELETE('/auth/tokens/{token_id}', { params: revocationParams(token) })),
};

const workspaceTokenActions: TokenActions = {
  list: async () => unwrap((await workerApi()).GET('/api/workspace/tokens')),
  create: async (body) => unwrap((await workerApi()).POST('/api/workspace/tokens', { body })),
  revoke: async (token) =>
    unwrap((await workerApi()).DELETE('/api/workspace/tokens/{token_id}', { params: revocationParams(token) })),
};

export default function TokensPage() {
  const workspace = useWorkspace();
  return (
    <SettingsFrame
      title="Tokens"
      about="Credentials for programs. Revoked tokens stop working everywhere within seconds."
    >
      <TokenPanel
        title="Personal tokens"
        about="For programs that act as you in all your workspaces."
        queryKey={['tokens', 'personal']}
        actions={personalTokenActions}
      />
      {workspace?.permissions.manage_tokens && (
        <TokenPanel
          title={`${workspace.name} tokens`}
          about="For programs that act only for this workspace. They keep working when you leave."
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
    </SettingsFrame>
  );
}
