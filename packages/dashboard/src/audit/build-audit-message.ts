/** Sentences of the audit log by action; they follow the actor's name. */
import type { WorkerSchemas } from '@gantry/sdk';
import { formatRoleWithArticle } from '../accounts/roles';

export type AuditEntry = WorkerSchemas['AuditEntry'];
export type AuditAction = WorkerSchemas['AuditAction'];

/** A resource with a page or a name that has to be looked up. */
export interface ResourceReference {
  of: 'worker' | 'automation' | 'member' | 'run' | 'alert' | 'approval' | 'secret' | 'connection';
  id: string;
  /** The name at that time; absent: the present one counts. */
  name?: string | undefined;
}

export type MessagePart = string | ResourceReference;

/** Accessors of an audit entry, for the sentences. */
interface MessageContext {
  id: string;
  source: string;
  /** A detail as text; empty where it is not one. */
  text: (name: string) => string;
  /** A list among the details. */
  list: (name: string) => string[];
  has: (name: string) => boolean;
  count: (name: string) => number;
}

type MessageBuilder = (source: MessageContext) => MessagePart[];

const buildWorkerReference = (source: MessageContext): ResourceReference => ({ of: 'worker', id: source.id });
const buildRelatedWorkerReference = (source: MessageContext): ResourceReference => ({
  of: 'worker',
  id: source.text('worker_id'),
});
const buildAutomationReference = (source: MessageContext): ResourceReference => ({ of: 'automation', id: source.id });
const buildMemberReference = (source: MessageContext): ResourceReference => ({
  of: 'member',
  id: source.id,
  name: source.text('email') || undefined,
});
const buildAlertReference = (source: MessageContext): ResourceReference => ({ of: 'alert', id: source.id });
const buildSecretReference = (source: MessageContext): ResourceReference => ({
  of: 'secret',
  id: source.id,
  name: source.id,
});
const buildConnectionReference = (source: MessageContext): ResourceReference => ({
  of: 'connection',
  id: source.id,
  name: source.text('label') || source.text('app') || undefined,
});
const quoteName = (name: string): string => (name ? ` “${name}”` : '');
const buildFailedRunReference = (source: MessageContext): ResourceReference => ({
  of: 'run',
  id: source.text('run_id'),
  name: 'a failed run',
});
const formatCount = (count: number, singular: string, plural: string): string =>
  count === 1 ? singular : `${count} ${plural}`;

const FIELD_LABELS: Record<string, string> = {
  python_dependencies: 'packages',
  evaluate_on_save: 'automatic evaluation',
  scheduleEnabled: 'schedule status',
  scheduleInputs: 'schedule inputs',
  misfire: 'missed-run policy',
  timezone: 'time zone',
  expose: 'exposed values',
  in_body: 'placeholders in request bodies',
  on_failure: 'automatic repair setting',
  max_turns: 'maximum turns',
  budget_usd: 'budget per run',
  enabled: 'status',
  max_duration_seconds: 'time limit',
  max_cost_usd: 'cost limit',
  reasoning: 'reasoning effort',
  webhook_secret_rotate: 'webhook token',
  webhook_signing_key_rotate: 'webhook signing key',
};

const formatFieldName = (field: string): string => FIELD_LABELS[field] ?? field.replaceAll('_', ' ');

function formatFieldList(fields: string[]): string {
  const names = fields.map(formatFieldName);
  const last = names.pop();
  if (!last) return 'the settings';
  return names.length ? `the ${names.join(', ')} and ${last}` : `the ${last}`;
}

function describeEdit(thing: MessagePart, source: MessageContext): MessagePart[] {
  if (source.text('change_source') === 'rollback') return ['rolled ', thing, ' back to an earlier version'];
  const fields = source.list('fields');
  if (source.has('to') && fields.length === 0) return ['saved a new version of ', thing];
  const version = source.has('version') ? `, creating version ${source.text('version')}` : '';
  return [`changed ${formatFieldList(fields)} for `, thing, version];
}

/** The type requires a sentence for every action. */
export const MESSAGE_BUILDERS: Record<AuditAction, MessageBuilder> = {
  'alert.created': (source) => ['created ', buildAlertReference(source)],
  'alert.updated': (source) =>
    source.has('secret')
      ? ['rotated the signing secret for ', buildAlertReference(source)]
      : ['updated ', buildAlertReference(source)],
  'alert.deleted': () => ['deleted an alert'],
  'alert.disabled': (source) => [
    'disabled ',
    buildAlertReference(source),
    source.has('reason') ? `: ${source.text('reason')}` : '',
  ],
  'alert.delivery_replayed': (source) => [
    source.has('replayed')
      ? `resent ${formatCount(source.count('replayed'), 'a delivery', 'deliveries')} for `
      : 'resent a delivery for ',
    buildAlertReference(source),
  ],
  'api_key.created': (source) => [`created the skill key${quoteName(source.text('name'))}`],
  'api_key.rotated': (source) => [`renewed the skill key${quoteName(source.text('name'))}`],
  'api_key.revoked': (source) => [`revoked the skill key${quoteName(source.text('name'))}`],
  'approval.approved': (source) => ['approved', ...describeApproval(source)],
  'approval.rejected': (source) => ['rejected', ...describeApproval(source)],
  'approval.expired': (source) => ['closed', ...describeApproval(source), ' after it expired without a decision'],
  'approval.link_renewed': (source) => [
    'created a new review link for ',
    { of: 'approval', id: source.id, name: 'an approval' },
    ' for ',
    { of: 'worker', id: source.text('worker_id') },
  ],
  'artifact.created': (source) => [`uploaded code for${quoteName(source.text('name')) || ' an automation'}`],
  'automation.deployed': (source) => ['deployed ', buildAutomationReference(source)],
  'automation.updated': (source) => [`deployed version ${source.text('to')} of `, buildAutomationReference(source)],
  'automation.rolled_back': (source) => [
    'rolled back ',
    buildAutomationReference(source),
    ` to version ${source.text('to')}`,
  ],
  'automation.changed': (source) => [
    `changed ${formatFieldList(source.list('changed'))} for `,
    buildAutomationReference(source),
  ],
  'automation.archived': (source) => ['archived ', buildAutomationReference(source)],
  'connection.authorized': (source) => [
    `connected the ${source.text('app')} account `,
    buildConnectionReference(source),
  ],
  'connection.created': (source) => [
    `created a connection to ${source.text('app')}: `,
    buildConnectionReference(source),
  ],
  'connection.deleted': (source) => [`deleted the ${source.text('app')} connection${quoteName(source.text('label'))}`],
  'connection.failed': (source) => ['found that the connection ', buildConnectionReference(source), ' isn’t working'],
  'connection.recovered': (source) => [
    'found that the connection ',
    buildConnectionReference(source),
    ' is working again',
  ],
  'connection.updated': (source) => ['updated the connection ', buildConnectionReference(source)],
  'context.created': (source) => [`created the context ${source.id}`],
  'context.updated': (source) => describeEdit(`the context ${source.id}`, source),
  'context.deleted': (source) => [`deleted the context ${source.id}`],
  'context.write_back_refused': (source) => [
    `rejected changes to the context ${source.id} from `,
    { of: 'run', id: source.text('run_id'), name: 'a run' },
  ],
  'device.approved': (source) => [`approved sign-in for the app${quoteName(source.text('client_name'))}`],
  'device.denied': (source) => [`denied sign-in for the app${quoteName(source.text('client_name'))}`],
  'model_provider.created': (source) => [`added ${source.id} models with a workspace key`],
  'model_provider.deleted': (source) => [`removed the ${source.id} models`],
  'model_provider.priced': (source) => [`set prices for the ${source.id} models`],
  'model_provider.updated': (source) => [`updated the ${source.id} models`],
  'integration_app.deleted': (source) => [`removed the OAuth client for ${source.id}`],
  'integration_app.set': (source) => [`configured the OAuth client for ${source.id}`],
  'evaluation.started': (source) => [
    `evaluated ${source.has('sha') ? `version ${source.text('sha').slice(0, 7)}` : 'a version'} of `,
    buildRelatedWorkerReference(source),
    source.has('examples') ? ` against ${formatCount(source.count('examples'), 'one example', 'examples')}` : '',
  ],
  'evaluation.stopped': (source) => ['stopped an evaluation of ', buildRelatedWorkerReference(source)],
  'example.created': (source) => [
    `added the example${quoteName(source.text('name'))} to `,
    buildRelatedWorkerReference(source),
  ],
  'example.updated': (source) => [
    `changed ${formatFieldList(source.list('fields'))} of the example${quoteName(source.text('name'))} in `,
    buildRelatedWorkerReference(source),
  ],
  'example.deleted': (source) => [
    `deleted the example${quoteName(source.text('name'))} from `,
    buildRelatedWorkerReference(source),
  ],
  'invitation.resent': (source) => [`resent the invitation to ${source.text('email') || 'a person'}`],
  'invitation.withdrawn': (source) => [`withdrew the invitation to ${source.text('email') || 'a person'}`],
  'library.created': (source) => [`created the library ${source.text('slug')}`],
  'library.changed': (source) => [
    `changed ${formatFieldList(source.list('changed'))} of the library ${source.text('slug')}`,
  ],
  'library.deleted': (source) => [`deleted the library ${source.text('slug')}`],
  'library.reordered': (source) => [`reordered the skills in the library ${source.text('slug')}`],
  'library.skill_added': (source) => [`added the skill ${source.text('skill')} to the library ${source.text('slug')}`],
  'library.skill_removed': (source) => [
    `removed the skill ${source.text('skill')} from the library ${source.text('slug')}`,
  ],
  'member.invited': (source) => [`invited ${source.text('email')} as ${formatRoleWithArticle(source.text('role'))}`],
  'member.joined': (source) => [
    source.has('role') ? `joined as ${formatRoleWithArticle(source.text('role'))}` : 'joined',
  ],
  'member.left': () => ['left the workspace'],
  'member.removed': (source) => ['removed ', buildMemberReference(source), ' from the workspace'],
  'member.role_changed': (source) => [
    'made ',
    buildMemberReference(source),
    ` ${formatRoleWithArticle(source.text('to'))}`,
  ],
  'member.password_reset_link_created': (source) => [
    'created a password reset link for ',
    buildMemberReference(source),
  ],
  'mcp_tool.published': (source) => [
    'published ',
    { of: 'worker', id: source.text('worker_id') },
    ` as the tool ${source.id}`,
  ],
  'mcp_tool.withdrawn': (source) => [`unpublished the tool ${source.id}`],
  'oauth_grant.created': (source) => [
    `connected the app${quoteName(source.text('client') || source.text('host'))}${source.text('readonly') === 'true' ? ' with read-only access' : ''}`,
  ],
  'oauth_grant.revoked': (source) => [
    source.text('reason') === 'reuse'
      ? `sent a used credential for the app${quoteName(source.text('client') || source.text('host'))} again, so the app was disconnected`
      : `disconnected the app${quoteName(source.text('client') || source.text('host'))}`,
  ],
  'run.cancelled': (source) => [
    'cancelled ',
    source.source === 'worker-api' ? { of: 'run', id: source.id, name: 'a run' } : 'an automation run',
  ],
  'run.shared': (source) => ['created a share link for ', { of: 'run', id: source.id, name: 'a run' }],
  'run.share_link_revoked': (source) => ['revoked a share link for ', { of: 'run', id: source.id, name: 'a run' }],
  'secret.set': (source) => [
    source.text('isNew') === 'false' ? 'replaced the secret ' : 'set the secret ',
    buildSecretReference(source),
    source.list('hosts').length ? `, restricted to ${source.list('hosts').join(', ')}` : '',
  ],
  'secret.deleted': (source) => ['deleted the secret ', buildSecretReference(source)],
  'secret_keys.rotated': () => ['rotated the encryption key for all secrets'],
  'session.ended': () => ['ended one of their sessions'],
  'skill.published': (source) => [`published the skill ${source.text('slug')}`],
  'skill.changed': (source) => [
    `updated the skill ${source.text('slug')}${source.has('version') ? ` to version ${source.text('version')}` : ''}`,
  ],
  'skill.deleted': (source) => [`deleted the skill ${source.text('slug')}`],
  'skill.restored': (source) => [`restored the skill ${source.text('slug')}`],
  'skill.shared': (source) => [
    `changed sharing for the skill ${source.text('slug')}: now shared with ${formatCount(source.count('total'), '1 email address', 'email addresses')}`,
  ],
  'token.created': (source) => [
    `created the ${source.text('kind') === 'workspace' ? 'workspace' : 'personal'} token${quoteName(source.text('name'))}${source.has('restrict') ? ' with restricted access' : ''}`,
  ],
  'token.revoked': (source) => [
    source.has('name') ? `revoked the token${quoteName(source.text('name'))}` : 'revoked a token',
  ],
  'user.email_unverified': (source) => [
    `was required to verify ${source.text('email') || 'their email address'} again`,
  ],
  'user.email_verification_requested': () => ['requested a verification email'],
  'user.email_verified': (source) => [`verified ${source.text('email') || 'their email address'}`],
  'user.identity_linked': () => ['linked their account to the identity provider'],
  'user.password_changed': () => ['changed their password'],
  'user.password_reset': () => ['reset their password using a link'],
  'user.password_reset_requested': () => ['requested a password reset link'],
  'user.signed_out_everywhere': () => ['signed out everywhere'],
  'worker.created': (source) => [
    'created the worker ',
    { ...buildWorkerReference(source), name: source.text('name') || undefined },
  ],
  'worker.updated': (source) => {
    const version = source.text('version');
    if (source.has('back_to'))
      return [
        'rolled ',
        buildWorkerReference(source),
        ` back to version ${source.text('back_to')}, creating version ${version}`,
      ];
    return version && source.list('fields').every((field) => field === 'files')
      ? [`deployed version ${version} of `, buildWorkerReference(source)]
      : describeEdit(buildWorkerReference(source), source);
  },
  'worker.version_approved': (source) => ['approved the code for ', buildWorkerReference(source)],
  'worker.candidate_made': (source) => ['proposed a new version of ', buildWorkerReference(source)],
  'worker.candidate_promoted': (source) => [
    'promoted a candidate for ',
    buildWorkerReference(source),
    source.has('version') ? ` as version ${source.text('version')}` : '',
  ],
  'worker.candidate_dropped': (source) => ['dropped a candidate for ', buildWorkerReference(source)],
  'worker.repair_begun': (source) => [
    'started a repair for ',
    buildFailedRunReference(source),
    ' of ',
    buildWorkerReference(source),
  ],
  'worker.repair_stopped': (source) => [
    'stopped the repair for ',
    buildFailedRunReference(source),
    ' of ',
    buildWorkerReference(source),
  ],
  'worker.paused': (source) => ['paused ', buildWorkerReference(source)],
  'worker.resumed': (source) => ['resumed ', buildWorkerReference(source)],
  'worker.tested': (source) => ['tested a draft of ', buildWorkerReference(source)],
  'worker.archived': (source) => ['archived ', buildWorkerReference(source)],
  'worker.restored': (source) => ['restored ', buildWorkerReference(source)],
  'worker.deleted': (source) => [`deleted the worker ${source.text('name') || source.id}`],
  'workspace.created': (source) => [`created the workspace${quoteName(source.text('name'))}`],
  'workspace.renamed': (source) => [
    `renamed the workspace from${quoteName(source.text('from'))} to${quoteName(source.text('to'))}`,
  ],
  'workspace.deleted': () => ['deleted the workspace'],
  'workspace.restored': () => ['restored the workspace'],
  'workspace.model_budget_changed': () => ['changed the monthly model budget'],
  'workspace.exposure_changed': (source) => [
    source.text('allow_exposed_credentials') === 'true'
      ? 'allowed workers to expose connection and secret values to code'
      : 'stopped workers from exposing connection and secret values to code',
  ],
  'workspace.retention_changed': () => ['changed run and log retention'],
  'workspace.transferred': (source) => ['made ', buildMemberReference(source), ' the owner of the workspace'],
};

function describeApproval(source: MessageContext): MessagePart[] {
  const title = quoteName(source.text('title'));
  return [
    ' ',
    { of: 'approval', id: source.id, name: title.trim() || 'an approval' },
    ...(source.has('worker_id') ? [' for ', { of: 'worker', id: source.text('worker_id') } as const] : []),
    source.text('reason') ? `: ${source.text('reason')}` : '',
  ];
}

/** @returns the parts of the sentence, after the actor's name */
export function buildAuditMessage({ action, resource, details, source }: AuditEntry): MessagePart[] {
  const getDetail = (name: string): unknown => details[name];
  const getText = (name: string): string => {
    const value = getDetail(name);
    return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
  };
  const getList = (name: string): string[] => {
    const value = getDetail(name);
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  };
  const sentence: MessageBuilder | undefined = MESSAGE_BUILDERS[action];
  // A newer service may write what this page does not know yet.
  if (!sentence) return [`changed ${resource.type} ${resource.id ?? ''}`];
  return sentence({
    id: resource.id ?? '',
    source,
    text: getText,
    list: getList,
    has: (name) => getDetail(name) !== undefined && getDetail(name) !== null && getDetail(name) !== '',
    count: (name) => Number(getDetail(name)) || 0,
  });
}

/** Labels of resource types in the filter. */
export const RESOURCE_TYPE_LABELS: Record<string, string> = {
  worker: 'Workers',
  automation: 'Automations',
  artifact: 'Uploaded code',
  run: 'Runs',
  example: 'Examples',
  evaluation: 'Evaluations',
  approval: 'Approvals',
  alert: 'Alerts',
  context: 'Contexts',
  secret: 'Secrets',
  connection: 'Connections',
  oauth_grant: 'Connected apps',
  integration_app: 'OAuth clients',
  model_provider: 'Models',
  mcp_tool: 'Tools for agents',
  skill: 'Skills',
  library: 'Libraries',
  api_key: 'Skill keys',
  member: 'Members',
  invitation: 'Invitations',
  token: 'Tokens',
  device: 'Devices',
  user: 'Accounts',
  session: 'Sessions',
  workspace: 'Workspace',
};
