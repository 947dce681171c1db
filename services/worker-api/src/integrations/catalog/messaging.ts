/** Services for messages and meetings. */
import {
  booleanField,
  buildAccount,
  buildProvider,
  buildRfc7009Revocation,
  defineTool,
  enumField,
  integerField,
  objectArrayField,
  objectField,
  requiredField,
  textField,
} from './provider';

export const slack = buildProvider({
  slug: 'slack',
  name: 'Slack',
  description: 'Messages and channels in a Slack workspace',
  category: 'Messages',
  logo: 'SL',
  docsUrl: 'https://docs.slack.dev/authentication/installing-with-oauth',
  authorizeUrl: 'https://slack.com/oauth/v2/authorize',
  tokenUrl: 'https://slack.com/api/oauth.v2.access',
  scopeSeparator: ',',
  scopes: [
    { name: 'chat:write', description: 'Send messages as the app', default: true },
    { name: 'channels:read', description: 'See public channels', default: true },
    { name: 'channels:history', description: 'Read public channels that the app is in' },
    { name: 'users:read', description: 'See people', default: true },
    { name: 'users:read.email', description: "See people's email addresses" },
    { name: 'files:write', description: 'Upload files' },
  ],
  hosts: ['slack.com', 'files.slack.com'],
  keysAreSentAlike: true,
  account: buildAccount('POST https://slack.com/api/auth.test', ['team'], ['user']),
  revoke: { method: 'POST', url: 'https://slack.com/api/auth.revoke', token: 'access', auth: 'bearer' },
  apiUrl: 'https://slack.com/api',
  tools: {
    post_message: defineTool('Sends a message to a channel', 'POST /chat.postMessage', {
      channel: requiredField(textField('Channel ID or name')),
      text: requiredField(textField('Message text')),
      thread_ts: textField('ts of the message to reply to'),
      blocks: objectArrayField('Block Kit'),
    }),
    list_channels: defineTool('Lists channels', 'GET /conversations.list', {
      limit: integerField('Items, at most', 999),
      cursor: textField('next_cursor from the previous page'),
      exclude_archived: booleanField('Excludes archived channels'),
    }),
    read_channel: defineTool(
      'Reads messages from a channel, newest first; needs the channels:history scope',
      'GET /conversations.history',
      {
        channel: requiredField(textField('Channel ID')),
        limit: integerField('Items, at most', 999),
        cursor: textField('next_cursor from the previous page'),
        oldest: textField('Only messages after this timestamp'),
      },
    ),
  },
});

export const discord = buildProvider({
  slug: 'discord',
  name: 'Discord',
  description: 'A Discord account and the servers it is in',
  category: 'Messages',
  logo: 'DI',
  docsUrl: 'https://discord.com/developers/docs/topics/oauth2',
  authorizeUrl: 'https://discord.com/oauth2/authorize',
  tokenUrl: 'https://discord.com/api/oauth2/token',
  clientAuth: 'basic',
  scopes: [
    { name: 'email', description: "Read the account's email address" },
    { name: 'guilds', description: 'See the servers that the account is in', default: true },
    { name: 'guilds.members.read', description: "Read the account's nickname on a server" },
  ],
  alwaysScopes: ['identify'],
  hosts: ['discord.com'],
  account: buildAccount('GET https://discord.com/api/v10/users/@me', ['username']),
  revoke: buildRfc7009Revocation('https://discord.com/api/oauth2/token/revoke', 'basic'),
  apiUrl: 'https://discord.com/api/v10',
  tools: {
    get_user: defineTool("Reads the account's profile", 'GET /users/@me'),
    list_servers: defineTool('Lists the servers that the account is in', 'GET /users/@me/guilds'),
  },
});

export const zoom = buildProvider({
  slug: 'zoom',
  name: 'Zoom',
  description: 'Meetings',
  category: 'Messages',
  logo: 'ZM',
  docsUrl: 'https://developers.zoom.us/docs/integrations/oauth/',
  authorizeUrl: 'https://zoom.us/oauth/authorize',
  tokenUrl: 'https://zoom.us/oauth/token',
  clientAuth: 'basic',
  // The scopes that the Zoom app has; an authorization request that names none gets all of them.
  scopes: [
    { name: 'meeting:read:list_meetings', description: 'List meetings' },
    { name: 'meeting:write:meeting', description: 'Create meetings' },
    { name: 'user:read:user', description: "Read the user's profile" },
  ],
  hosts: ['api.zoom.us'],
  account: buildAccount('GET https://api.zoom.us/v2/users/me', ['email']),
  revoke: buildRfc7009Revocation('https://zoom.us/oauth/revoke', 'basic', 'access'),
  apiUrl: 'https://api.zoom.us/v2',
  tools: {
    list_meetings: defineTool('Lists meetings', 'GET /users/me/meetings', {
      type: enumField('Which ones', 'scheduled', 'live', 'upcoming', 'previous_meetings'),
      page_size: integerField('Items per page', 300),
      next_page_token: textField('next_page_token from the previous page'),
    }),
    create_meeting: defineTool('Creates a meeting', 'POST /users/me/meetings', {
      topic: requiredField(textField('Title')),
      type: integerField('1 instant, 2 scheduled, 8 recurring', 8),
      start_time: textField('ISO 8601'),
      duration: integerField('Minutes', 1_440),
      timezone: textField('Time zone, such as Europe/Berlin'),
      agenda: textField('What the meeting is about'),
    }),
  },
});

export const microsoft = buildProvider({
  slug: 'microsoft-365',
  name: 'Microsoft 365',
  description: 'Outlook, OneDrive, calendars and Teams through Microsoft Graph',
  category: 'Office',
  logo: 'MS',
  docsUrl: 'https://learn.microsoft.com/en-us/graph/auth-v2-user',
  authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
  tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
  scopes: [
    { name: 'Mail.Read', description: 'Read mail', default: true },
    { name: 'Mail.Send', description: 'Send mail' },
    { name: 'Calendars.Read', description: 'Read calendars', default: true },
    { name: 'Calendars.ReadWrite', description: 'Read and write calendars' },
    { name: 'Files.Read', description: 'Read files' },
    { name: 'Files.ReadWrite', description: 'Read and write files' },
  ],
  alwaysScopes: ['offline_access', 'User.Read'],
  hosts: ['graph.microsoft.com'],
  account: buildAccount('GET https://graph.microsoft.com/v1.0/me', ['mail'], ['userPrincipalName']),
  revoke: null,
  apiUrl: 'https://graph.microsoft.com/v1.0/me',
  tools: {
    list_messages: defineTool('Lists messages in the mailbox, newest first', 'GET /messages', {
      $top: integerField('Items, at most', 1_000),
      $filter: textField('OData filter, such as isRead eq false'),
      $search: textField('Search terms in quotation marks'),
    }),
    send_mail: defineTool('Sends a message; needs the Mail.Send scope', 'POST /sendMail', {
      message: requiredField(objectField('{"subject", "body": {"contentType", "content"}, "toRecipients": [...]}')),
    }),
    list_events: defineTool('Lists calendar events between two times', 'GET /calendarView', {
      startDateTime: requiredField(textField('ISO 8601')),
      endDateTime: requiredField(textField('ISO 8601')),
      $top: integerField('Items, at most', 1_000),
    }),
  },
});
