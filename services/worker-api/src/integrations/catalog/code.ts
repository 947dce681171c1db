/** Services for code, its errors and its incidents. */
import {
  booleanField,
  buildAccount,
  buildProvider,
  buildRfc7009Revocation,
  defineTool,
  enumField,
  integerField,
  requiredField,
  stringArrayField,
  textField,
} from './provider';

const repository = {
  owner: requiredField(textField('User or organization')),
  repo: requiredField(textField('Repository name')),
};
const project = { id: requiredField(textField('Project ID or full path, including slashes')) };

export const github = buildProvider({
  slug: 'github',
  name: 'GitHub',
  description: 'Repositories, issues, pull requests and actions',
  category: 'Code',
  logo: 'GH',
  docsUrl: 'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
  authorizeUrl: 'https://github.com/login/oauth/authorize',
  tokenUrl: 'https://github.com/login/oauth/access_token',
  scopes: [
    { name: 'repo', description: 'Read and write repositories, including private ones', default: true },
    { name: 'read:user', description: "Read the account's profile", default: true },
    { name: 'user:email', description: "Read the account's email addresses" },
    { name: 'read:org', description: 'Read organizations and teams' },
    { name: 'workflow', description: 'Edit GitHub Actions workflow files' },
    { name: 'gist', description: 'Write gists' },
    { name: 'notifications', description: 'Read notifications and mark them as read' },
  ],
  hosts: ['api.github.com', 'uploads.github.com', 'raw.githubusercontent.com'],
  headers: { Accept: 'application/vnd.github+json', 'X-GitHub-Api-Version': '2022-11-28', 'User-Agent': 'Gantry' },
  keysAreSentAlike: true,
  account: buildAccount('GET https://api.github.com/user', ['login']),
  revoke: {
    method: 'DELETE',
    url: 'https://api.github.com/applications/{client_id}/token',
    token: 'access',
    auth: 'basic',
    json: { access_token: '{token}' },
  },
  apiUrl: 'https://api.github.com',
  tools: {
    list_repositories: defineTool(
      'Lists the repositories that the account can access, most recently changed first',
      'GET /user/repos',
      {
        visibility: enumField('Only those', 'all', 'public', 'private'),
        sort: enumField('Order', 'created', 'updated', 'pushed', 'full_name'),
        per_page: integerField('Items per page', 100),
        page: integerField('Which page', 1_000),
      },
    ),
    list_issues: defineTool(
      'Lists issues in a repository, including pull requests',
      'GET /repos/{owner}/{repo}/issues',
      {
        ...repository,
        state: enumField('Only items in this state', 'open', 'closed', 'all'),
        labels: textField('Comma-separated label names'),
        since: textField('Only items updated at or after this time, in ISO 8601 format'),
        per_page: integerField('Items per page', 100),
        page: integerField('Which page', 1_000),
      },
    ),
    create_issue: defineTool('Creates an issue in a repository', 'POST /repos/{owner}/{repo}/issues', {
      ...repository,
      title: requiredField(textField('Title on one line')),
      body: textField('Markdown'),
      labels: stringArrayField('Label names'),
      assignees: stringArrayField('Logins'),
    }),
    comment_on_issue: defineTool(
      'Adds a comment to an issue or a pull request',
      'POST /repos/{owner}/{repo}/issues/{number}/comments',
      {
        ...repository,
        number: requiredField(integerField('Issue number', 10_000_000)),
        body: requiredField(textField('Markdown')),
      },
    ),
    list_pull_requests: defineTool('Lists pull requests in a repository', 'GET /repos/{owner}/{repo}/pulls', {
      ...repository,
      state: enumField('Only pull requests in this state', 'open', 'closed', 'all'),
      base: textField('Only pull requests targeting this branch'),
      per_page: integerField('Items per page', 100),
    }),
    search_code: defineTool('Searches code with GitHub search terms and qualifiers', 'GET /search/code', {
      q: requiredField(textField('Such as: addClass repo:jquery/jquery')),
      per_page: integerField('Items per page', 100),
    }),
  },
});

export const gitlab = buildProvider({
  slug: 'gitlab',
  name: 'GitLab',
  description: 'Projects, issues and merge requests on gitlab.com',
  category: 'Code',
  logo: 'GL',
  docsUrl: 'https://docs.gitlab.com/api/oauth2/',
  authorizeUrl: 'https://gitlab.com/oauth/authorize',
  tokenUrl: 'https://gitlab.com/oauth/token',
  scopes: [
    { name: 'read_api', description: 'Read everything through the API', default: true },
    { name: 'api', description: 'Read and write everything through the API' },
    { name: 'read_user', description: "Read the account's profile", default: true },
    { name: 'read_repository', description: 'Read repositories' },
    { name: 'write_repository', description: 'Write repositories' },
  ],
  hosts: ['gitlab.com'],
  keysAreSentAlike: true,
  account: buildAccount('GET https://gitlab.com/api/v4/user', ['username']),
  revoke: buildRfc7009Revocation('https://gitlab.com/oauth/revoke', 'none', 'access'),
  apiUrl: 'https://gitlab.com/api/v4',
  tools: {
    list_projects: defineTool('Lists the projects that the account is a member of', 'GET /projects?membership=true', {
      search: textField('Part of the project name'),
      per_page: integerField('Items per page', 100),
      page: integerField('Which page', 1_000),
    }),
    list_issues: defineTool('Lists issues in a project', 'GET /projects/{id}/issues', {
      ...project,
      state: enumField('Only issues in this state', 'opened', 'closed', 'all'),
      labels: textField('Comma-separated label names'),
      per_page: integerField('Items per page', 100),
    }),
    create_issue: defineTool('Creates an issue in a project; needs the api scope', 'POST /projects/{id}/issues', {
      ...project,
      title: requiredField(textField('Title on one line')),
      description: textField('Markdown'),
      labels: textField('Comma-separated label names'),
      confidential: booleanField('Visible only to members'),
    }),
    list_merge_requests: defineTool('Lists merge requests in a project', 'GET /projects/{id}/merge_requests', {
      ...project,
      state: enumField('Only merge requests in this state', 'opened', 'closed', 'merged', 'all'),
      per_page: integerField('Items per page', 100),
    }),
  },
});

export const sentry = buildProvider({
  slug: 'sentry',
  name: 'Sentry',
  description: 'Errors in your applications and who is assigned to them',
  category: 'Operations',
  logo: 'SE',
  docsUrl: 'https://docs.sentry.io/api/auth/',
  authorizeUrl: 'https://sentry.io/oauth/authorize/',
  tokenUrl: 'https://sentry.io/oauth/token/',
  scopes: [
    { name: 'org:read', description: 'Read organizations', default: true },
    { name: 'project:read', description: 'Read projects', default: true },
    { name: 'event:read', description: 'Read issues and events', default: true },
    { name: 'event:write', description: 'Resolve and assign issues' },
    { name: 'team:read', description: 'Read teams' },
    { name: 'member:read', description: 'Read members' },
  ],
  hosts: ['sentry.io', 'us.sentry.io', 'de.sentry.io'],
  account: {
    label: [
      ['user', 'email'],
      ['user', 'name'],
    ],
  },
  revoke: null,
  apiUrl: 'https://sentry.io/api/0/organizations/{organization}',
  tools: {
    list_projects: defineTool('Lists the projects in an organization', 'GET /projects/', {
      organization: requiredField(textField('Organization slug')),
    }),
    list_issues: defineTool("Lists an organization's issues that match a query", 'GET /issues/', {
      organization: requiredField(textField('Organization slug')),
      query: textField('Such as: is:unresolved level:error'),
      statsPeriod: textField('Such as 24h or 14d'),
      limit: integerField('Items, at most', 100),
    }),
    update_issue: defineTool(
      'Resolves, ignores or assigns an issue; needs the event:write scope',
      'PUT /issues/{issue_id}/',
      {
        organization: requiredField(textField('Organization slug')),
        issue_id: requiredField(textField('Issue ID')),
        status: enumField('New state', 'resolved', 'unresolved', 'ignored'),
        assignedTo: textField('User name, or team:<id>'),
      },
    ),
  },
});

export const pagerduty = buildProvider({
  slug: 'pagerduty',
  name: 'PagerDuty',
  description: 'Incidents, services and on-call users',
  category: 'Operations',
  logo: 'PD',
  docsUrl: 'https://developer.pagerduty.com/docs/oauth-functionality',
  authorizeUrl: 'https://identity.pagerduty.com/oauth/authorize',
  tokenUrl: 'https://identity.pagerduty.com/oauth/token',
  scopes: [
    { name: 'incidents.read', description: 'Read incidents', default: true },
    { name: 'incidents.write', description: 'Create and edit incidents' },
    { name: 'services.read', description: 'Read services', default: true },
    { name: 'oncalls.read', description: 'Read who is on call', default: true },
    { name: 'schedules.read', description: 'Read schedules' },
  ],
  alwaysScopes: ['users.read'],
  hosts: ['api.pagerduty.com', 'api.eu.pagerduty.com'],
  headers: { Accept: 'application/vnd.pagerduty+json;version=2' },
  account: buildAccount('GET https://api.pagerduty.com/users/me', ['user', 'email'], ['user', 'name']),
  revoke: null,
  apiUrl: 'https://api.pagerduty.com',
  tools: {
    list_incidents: defineTool('Lists incidents', 'GET /incidents', {
      since: textField('Only incidents at or after this time, in ISO 8601 format'),
      until: textField('Only incidents before this time, in ISO 8601 format'),
      sort_by: textField('For example, created_at:desc'),
      limit: integerField('Items, at most', 100),
      offset: integerField('Number of items to skip', 10_000),
    }),
    list_on_calls: defineTool('Lists who is on call', 'GET /oncalls'),
    list_services: defineTool('Lists services', 'GET /services'),
  },
});
