/** Services for code, its errors and its incidents. */
import {
  BEARER,
  booleanField,
  buildRfc7009Revocation,
  enumField,
  integerField,
  type Provider,
  requiredField,
  stringArrayField,
  text,
  tool,
} from './provider';

const repository = {
  owner: requiredField(text('User or organization')),
  repo: requiredField(text('Name of the repository')),
};
const project = { id: requiredField(text('Id of the project, or its path with slashes')) };

export const github: Provider = {
  slug: 'github',
  name: 'GitHub',
  description: 'Repositories, issues, pull requests and actions',
  category: 'Code',
  logo: 'GH',
  docsUrl: 'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
  app: 'github',
  protocol: 'oauth2',
  authorizeUrl: 'https://github.com/login/oauth/authorize',
  tokenUrl: 'https://github.com/login/oauth/access_token',
  clientAuth: 'post',
  scopes: [
    { name: 'repo', description: 'Read and write repositories, private ones included', default: true },
    { name: 'read:user', description: 'Read the profile', default: true },
    { name: 'user:email', description: 'Read the email addresses' },
    { name: 'read:org', description: 'Read organizations and teams' },
    { name: 'workflow', description: 'Change the files of GitHub Actions' },
    { name: 'gist', description: 'Write gists' },
    { name: 'notifications', description: 'Read notifications and mark them as read' },
  ],
  hosts: ['api.github.com', 'uploads.github.com', 'raw.githubusercontent.com'],
  send: BEARER,
  headers: { Accept: 'application/vnd.github+json', 'X-GitHub-Api-Version': '2022-11-28', 'User-Agent': 'Gantry' },
  keysAreSentAlike: true,
  account: { request: { method: 'GET', url: 'https://api.github.com/user' }, label: [['login']] },
  revoke: {
    method: 'DELETE',
    url: 'https://api.github.com/applications/{client_id}/token',
    token: 'access',
    auth: 'basic',
    json: { access_token: '{token}' },
  },
  tools: [
    tool(
      'list_repositories',
      'Lists the repositories that the account can see, the latest change first',
      { method: 'GET', url: 'https://api.github.com/user/repos', query: ['visibility', 'sort', 'per_page', 'page'] },
      {
        visibility: enumField('Only those', 'all', 'public', 'private'),
        sort: enumField('Order', 'created', 'updated', 'pushed', 'full_name'),
        per_page: integerField('Items on a page', 100),
        page: integerField('Which page', 1_000),
      },
    ),
    tool(
      'list_issues',
      'Lists issues of a repository; pull requests are among them',
      {
        method: 'GET',
        url: 'https://api.github.com/repos/{owner}/{repo}/issues',
        query: ['state', 'labels', 'since', 'per_page', 'page'],
      },
      {
        ...repository,
        state: enumField('Only those in this state', 'open', 'closed', 'all'),
        labels: text('Names of labels, separated by commas'),
        since: text('Only those that changed at this time or later, ISO 8601'),
        per_page: integerField('Items on a page', 100),
        page: integerField('Which page', 1_000),
      },
    ),
    tool(
      'create_issue',
      'Creates an issue in a repository',
      {
        method: 'POST',
        url: 'https://api.github.com/repos/{owner}/{repo}/issues',
        json: ['title', 'body', 'labels', 'assignees'],
      },
      {
        ...repository,
        title: requiredField(text('In one line')),
        body: text('Markdown'),
        labels: stringArrayField('Names of labels'),
        assignees: stringArrayField('Logins'),
      },
    ),
    tool(
      'comment_on_issue',
      'Adds a comment to an issue or a pull request',
      {
        method: 'POST',
        url: 'https://api.github.com/repos/{owner}/{repo}/issues/{number}/comments',
        json: ['body'],
      },
      {
        ...repository,
        number: requiredField(integerField('Number of the issue', 10_000_000)),
        body: requiredField(text('Markdown')),
      },
    ),
    tool(
      'list_pull_requests',
      'Lists pull requests of a repository',
      {
        method: 'GET',
        url: 'https://api.github.com/repos/{owner}/{repo}/pulls',
        query: ['state', 'base', 'per_page'],
      },
      {
        ...repository,
        state: enumField('Only those in this state', 'open', 'closed', 'all'),
        base: text('Only those into this branch'),
        per_page: integerField('Items on a page', 100),
      },
    ),
    tool(
      'search_code',
      'Searches code by the terms and qualifiers of GitHub',
      { method: 'GET', url: 'https://api.github.com/search/code', query: ['q', 'per_page'] },
      {
        q: requiredField(text('Such as: addClass repo:jquery/jquery')),
        per_page: integerField('Items on a page', 100),
      },
    ),
  ],
};

export const gitlab: Provider = {
  slug: 'gitlab',
  name: 'GitLab',
  description: 'Projects, issues and merge requests on gitlab.com',
  category: 'Code',
  logo: 'GL',
  docsUrl: 'https://docs.gitlab.com/api/oauth2/',
  app: 'gitlab',
  protocol: 'oauth2',
  authorizeUrl: 'https://gitlab.com/oauth/authorize',
  tokenUrl: 'https://gitlab.com/oauth/token',
  clientAuth: 'post',
  scopes: [
    { name: 'read_api', description: 'Read everything by the API', default: true },
    { name: 'api', description: 'Read and write everything by the API' },
    { name: 'read_user', description: 'Read the profile', default: true },
    { name: 'read_repository', description: 'Read repositories' },
    { name: 'write_repository', description: 'Write repositories' },
  ],
  hosts: ['gitlab.com'],
  send: BEARER,
  keysAreSentAlike: true,
  account: { request: { method: 'GET', url: 'https://gitlab.com/api/v4/user' }, label: [['username']] },
  revoke: buildRfc7009Revocation('https://gitlab.com/oauth/revoke', 'none', 'access'),
  tools: [
    tool(
      'list_projects',
      'Lists the projects that the account is a member of',
      {
        method: 'GET',
        url: 'https://gitlab.com/api/v4/projects?membership=true',
        query: ['search', 'per_page', 'page'],
      },
      {
        search: text('Part of the name'),
        per_page: integerField('Items on a page', 100),
        page: integerField('Which page', 1_000),
      },
    ),
    tool(
      'list_issues',
      'Lists issues of a project',
      {
        method: 'GET',
        url: 'https://gitlab.com/api/v4/projects/{id}/issues',
        query: ['state', 'labels', 'per_page'],
      },
      {
        ...project,
        state: enumField('Only those in this state', 'opened', 'closed', 'all'),
        labels: text('Names of labels, separated by commas'),
        per_page: integerField('Items on a page', 100),
      },
    ),
    tool(
      'create_issue',
      'Creates an issue in a project; needs the scope api',
      {
        method: 'POST',
        url: 'https://gitlab.com/api/v4/projects/{id}/issues',
        json: ['title', 'description', 'labels', 'confidential'],
      },
      {
        ...project,
        title: requiredField(text('In one line')),
        description: text('Markdown'),
        labels: text('Names of labels, separated by commas'),
        confidential: booleanField('Only for members'),
      },
    ),
    tool(
      'list_merge_requests',
      'Lists merge requests of a project',
      {
        method: 'GET',
        url: 'https://gitlab.com/api/v4/projects/{id}/merge_requests',
        query: ['state', 'per_page'],
      },
      {
        ...project,
        state: enumField('Only those in this state', 'opened', 'closed', 'merged', 'all'),
        per_page: integerField('Items on a page', 100),
      },
    ),
  ],
};

export const sentry: Provider = {
  slug: 'sentry',
  name: 'Sentry',
  description: 'Errors of your programs, and who looks after them',
  category: 'Operations',
  logo: 'SE',
  docsUrl: 'https://docs.sentry.io/api/auth/',
  app: 'sentry',
  protocol: 'oauth2',
  authorizeUrl: 'https://sentry.io/oauth/authorize/',
  tokenUrl: 'https://sentry.io/oauth/token/',
  clientAuth: 'post',
  scopes: [
    { name: 'org:read', description: 'Read organizations', default: true },
    { name: 'project:read', description: 'Read projects', default: true },
    { name: 'event:read', description: 'Read issues and events', default: true },
    { name: 'event:write', description: 'Resolve and assign issues' },
    { name: 'team:read', description: 'Read teams' },
    { name: 'member:read', description: 'Read members' },
  ],
  hosts: ['sentry.io', 'us.sentry.io', 'de.sentry.io'],
  send: BEARER,
  account: {
    label: [
      ['user', 'email'],
      ['user', 'name'],
    ],
  },
  revoke: null,
  tools: [
    tool(
      'list_projects',
      'Lists the projects of an organization',
      { method: 'GET', url: 'https://sentry.io/api/0/organizations/{organization}/projects/' },
      { organization: requiredField(text('Slug of the organization')) },
    ),
    tool(
      'list_issues',
      'Lists issues of an organization that a query finds',
      {
        method: 'GET',
        url: 'https://sentry.io/api/0/organizations/{organization}/issues/',
        query: ['query', 'statsPeriod', 'limit'],
      },
      {
        organization: requiredField(text('Slug of the organization')),
        query: text('Such as: is:unresolved level:error'),
        statsPeriod: text('Such as 24h or 14d'),
        limit: integerField('Items, at most', 100),
      },
    ),
    tool(
      'update_issue',
      'Resolves, ignores or assigns an issue; needs the scope event:write',
      {
        method: 'PUT',
        url: 'https://sentry.io/api/0/organizations/{organization}/issues/{issue_id}/',
        json: ['status', 'assignedTo'],
      },
      {
        organization: requiredField(text('Slug of the organization')),
        issue_id: requiredField(text('Id of the issue')),
        status: enumField('New state', 'resolved', 'unresolved', 'ignored'),
        assignedTo: text('User name, or team:<id>'),
      },
    ),
  ],
};

export const pagerduty: Provider = {
  slug: 'pagerduty',
  name: 'PagerDuty',
  description: 'Incidents, services and who is on call',
  category: 'Operations',
  logo: 'PD',
  docsUrl: 'https://developer.pagerduty.com/docs/oauth-functionality',
  app: 'pagerduty',
  protocol: 'oauth2',
  authorizeUrl: 'https://identity.pagerduty.com/oauth/authorize',
  tokenUrl: 'https://identity.pagerduty.com/oauth/token',
  clientAuth: 'post',
  scopes: [
    { name: 'incidents.read', description: 'Read incidents', default: true },
    { name: 'incidents.write', description: 'Create and change incidents' },
    { name: 'services.read', description: 'Read services', default: true },
    { name: 'oncalls.read', description: 'Read who is on call', default: true },
    { name: 'schedules.read', description: 'Read schedules' },
  ],
  alwaysScopes: ['users.read'],
  hosts: ['api.pagerduty.com', 'api.eu.pagerduty.com'],
  send: BEARER,
  headers: { Accept: 'application/vnd.pagerduty+json;version=2' },
  account: {
    request: { method: 'GET', url: 'https://api.pagerduty.com/users/me' },
    label: [
      ['user', 'email'],
      ['user', 'name'],
    ],
  },
  revoke: null,
  tools: [
    tool(
      'list_incidents',
      'Lists incidents',
      {
        method: 'GET',
        url: 'https://api.pagerduty.com/incidents',
        query: ['since', 'until', 'sort_by', 'limit', 'offset'],
      },
      {
        since: text('From then on, ISO 8601'),
        until: text('Before then, ISO 8601'),
        sort_by: text('Such as created_at:desc'),
        limit: integerField('Items, at most', 100),
        offset: integerField('Items to skip', 10_000),
      },
    ),
    tool('list_on_calls', 'Lists who is on call', {
      method: 'GET',
      url: 'https://api.pagerduty.com/oncalls',
    }),
    tool('list_services', 'Lists services', { method: 'GET', url: 'https://api.pagerduty.com/services' }),
  ],
};
