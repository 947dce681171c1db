import { type ComponentType, lazy } from 'react';
import { Navigate, Route, Routes, useParams } from 'react-router';
import { NotFound } from './shell/frame/not-found';
import { PageLayout } from './shell/frame/page-layout';
import { automationPath, paths, patterns } from './shell/paths';
import { RequireSession } from './shell/require-session';

/** Each page is a file of its own, fetched on first visit. */
type Pages = [path: string, Page: ComponentType][];

/** Cards for people who are not signed in yet. */
const CARD_PAGES: Pages = [
  [paths.signIn, lazy(() => import('./pages/sign-in/sign-in-page'))],
  [paths.invite, lazy(() => import('./pages/invite/invite-page'))],
  [paths.forgotPassword, lazy(() => import('./pages/forgot-password/forgot-password-page'))],
  [paths.resetPassword, lazy(() => import('./pages/reset-password/reset-password-page'))],
  [paths.setup, lazy(() => import('./pages/setup/setup-page'))],
  [paths.verifyEmail, lazy(() => import('./pages/verify-email/verify-email-page'))],
];

const ChatPage = lazy(() => import('./pages/chat/chat-page'));
const SkillsPage = lazy(() => import('./pages/skills/skills-page'));
const SkillEditorPage = lazy(() => import('./pages/skill-editor/skill-editor-page'));

/** Redirects from an address below the list, where people expect an automation. */
function AutomationRedirect() {
  const { automationId = '' } = useParams();
  return <Navigate to={automationPath(automationId)} replace />;
}

/** Pages for people who are signed in. */
const SIGNED_IN_PAGES: Pages = [
  [paths.home, lazy(() => import('./pages/overview/overview-page'))],
  [paths.create, lazy(() => import('./pages/create/create-page'))],
  [paths.automations, lazy(() => import('./pages/automation-list/automation-list-page'))],
  [paths.newAutomation, lazy(() => import('./pages/new-automation/new-automation-page'))],
  [patterns.listedAutomation, AutomationRedirect],
  [paths.approvals, lazy(() => import('./pages/approvals/approvals-page'))],
  [paths.chat, ChatPage],
  [patterns.conversation, ChatPage],
  [paths.workers, lazy(() => import('./pages/workers/workers-page'))],
  [paths.newWorker, lazy(() => import('./pages/new-worker/new-worker-page'))],
  [patterns.worker, lazy(() => import('./pages/worker/worker-page'))],
  [paths.decidedApprovals, lazy(() => import('./pages/approvals/decided-approvals-page'))],
  [paths.connections, lazy(() => import('./pages/connections/connections-page'))],
  [paths.newConnection, lazy(() => import('./pages/connections/new-connection-page'))],
  [patterns.catalogService, lazy(() => import('./pages/catalog-service/catalog-service-page'))],
  [patterns.connection, lazy(() => import('./pages/connection/connection-page'))],
  [paths.secrets, lazy(() => import('./pages/secrets/secrets-page'))],
  [paths.alerts, lazy(() => import('./pages/alerts/alerts-page'))],
  [paths.newAlert, lazy(() => import('./pages/new-alert/new-alert-page'))],
  [patterns.alert, lazy(() => import('./pages/alert/alert-page'))],
  ...[paths.skills, paths.workspaceSkills, paths.savedSkills, paths.deletedSkills].map((path): Pages[number] => [
    path,
    SkillsPage,
  ]),
  [paths.libraries, lazy(() => import('./pages/libraries/libraries-page'))],
  [patterns.automationCode, lazy(() => import('./pages/automation/automation-code-page'))],
  [patterns.automationSettings, lazy(() => import('./pages/automation/automation-settings-page'))],
  [patterns.library, lazy(() => import('./pages/library/library-page'))],
  [paths.newSkill, SkillEditorPage],
  [patterns.skillEditor, SkillEditorPage],
  [patterns.skillVersion, lazy(() => import('./pages/skill/skill-version-page'))],
  [patterns.skill, lazy(() => import('./pages/skill/skill-page'))],
  [patterns.workerTriggers, lazy(() => import('./pages/worker-triggers/worker-triggers-page'))],
  [patterns.workerAlerts, lazy(() => import('./pages/worker-alerts/worker-alerts-page'))],
  [patterns.workerSettings, lazy(() => import('./pages/worker-settings/worker-settings-page'))],
  [patterns.workerPublish, lazy(() => import('./pages/worker-publish/worker-publish-page'))],
  [patterns.workerCode, lazy(() => import('./pages/worker-code/worker-code-page'))],
  [patterns.workerConversations, lazy(() => import('./pages/worker-conversations/worker-conversations-page'))],
  [patterns.conversationWithWorker, lazy(() => import('./pages/worker-conversations/conversation-page'))],
  [patterns.workerVersions, lazy(() => import('./pages/worker-versions/worker-versions-page'))],
  [patterns.candidate, lazy(() => import('./pages/candidate/candidate-page'))],
  [patterns.workerEvaluations, lazy(() => import('./pages/worker-evaluations/worker-evaluations-page'))],
  [patterns.evaluation, lazy(() => import('./pages/worker-evaluations/evaluation-page'))],
  [paths.contexts, lazy(() => import('./pages/contexts/contexts-page'))],
  [patterns.context, lazy(() => import('./pages/context/context-page'))],
  [patterns.contextVersions, lazy(() => import('./pages/context-versions/context-versions-page'))],
  [patterns.contextSettings, lazy(() => import('./pages/context-settings/context-settings-page'))],
  [paths.runs, lazy(() => import('./pages/runs/runs-page'))],
  [patterns.workerRun, lazy(() => import('./pages/worker-run/worker-run-page'))],
  [paths.authorize, lazy(() => import('./pages/authorize/authorize-page'))],
  [paths.device, lazy(() => import('./pages/device/device-page'))],
  [paths.members, lazy(() => import('./pages/members/members-page'))],
  [paths.tokens, lazy(() => import('./pages/tokens/tokens-page'))],
  [paths.auditLog, lazy(() => import('./pages/audit-log/audit-log-page'))],
  [paths.models, lazy(() => import('./pages/models/models-page'))],
  [paths.usage, lazy(() => import('./pages/usage/usage-page'))],
  [paths.workspace, lazy(() => import('./pages/workspace/workspace-page'))],
  [paths.account, lazy(() => import('./pages/account/account-page'))],
];

/** Pages that links open without a session; they require one themselves where needed. */
const LINKED_PAGES: Pages = [
  [patterns.automation, lazy(() => import('./pages/automation/automation-page'))],
  [patterns.review, lazy(() => import('./pages/review/review-page'))],
  [patterns.sharedRun, lazy(() => import('./pages/shared-run/shared-run-page'))],
];

/** Redirects, including links of earlier versions. */
const REDIRECTS: [from: string, to: string][] = [
  [paths.settings, paths.workspace],
  [paths.formerAuditLog, paths.auditLog],
];

export function PageRoutes() {
  return (
    <Routes>
      {CARD_PAGES.map(([path, Page]) => (
        <Route key={path} path={path} element={<Page />} />
      ))}
      <Route element={<PageLayout />}>
        {SIGNED_IN_PAGES.map(([path, Page]) => (
          <Route
            key={path}
            path={path}
            element={
              <RequireSession>
                <Page />
              </RequireSession>
            }
          />
        ))}
        {LINKED_PAGES.map(([path, Page]) => (
          <Route key={path} path={path} element={<Page />} />
        ))}
        {REDIRECTS.map(([from, to]) => (
          <Route key={from} path={from} element={<Navigate to={to} replace />} />
        ))}
        <Route path="*" element={<NotFound />} />
      </Route>
    </Routes>
  );
}
