/** Services for messages and meetings. */
import {
  BEARER,
  buildRfc7009Revocation,
  enumField,
  integerField,
  object,
  type Provider,
  requiredField,
  text,
  tool,
} from './provider';

export const slack: Provider = {
  slug: 'slack',
  name: 'Slack',
  description: 'Messages and channels of a Slack workspace',
  category: 'Messages',
  logo: 'SL',
  docsUrl: 'https://docs.slack.dev/authentication/installing-with-oauth',
  app: 'slack',
  protocol: 'oauth2',
  authorizeUrl: 'https://slack.com/oauth/v2/authorize',
  tokenUrl: 'https://slack.com/api/oauth.v2.access',
  clientAuth: 'post',
  scopeSeparator: ',',
  scopes: [
    { name: 'chat:write', description: 'Send messages as the app', default: true },
    { name: 'channels:read', description: 'See public channels', default: true },
    { name: 'channels:history', description: 'Read public channels that the app is in' },
    { name: 'users:read', description: 'See people', default: true },
    { name: 'users:read.email', description: 'See their email addresses' },
    { name: 'files:write', description: 'Upload files' },
  ],
  hosts: ['slack.com', 'files.slack.com'],
  send: BEARER,
  keysAreSentAlike: true,
  account: { request: { method: 'POST', url: 'https://slack.com/api/auth.test' }, label: [['team'], ['user']] },
  revoke: { method: 'POST', url: 'https://slack.com/api/auth.revoke', token: 'access', auth: 'bearer' },
  tools: [
    tool(
      'post_message',
      'Sends a message to a channel',
      {
        method: 'POST',
        url: 'https://slack.com/api/chat.postMessage',
        json: ['channel', 'text', 'thread_ts', 'blocks'],
      },
      {
        channel: requiredField(text('Id or name of the channel')),
        text: requiredField(text('What it says')),
        thread_ts: text('ts of the message that it answers'),
        blocks: { type: 'array', items: { type: 'object' }, description: 'Block Kit' },
      },
    ),
    tool(
      'list_channels',
      'Lists channels',
      {
        method: 'GET',
        url: 'https://slack.com/api/conversations.list',
        query: ['limit', 'cursor', 'exclude_archived'],
      },
      {
        limit: integerField('Items, at most', 999),
        cursor: text('next_cursor of the page before'),
        exclude_archived: { type: 'boolean', description: 'Leaves archived ones out' },
      },
    ),
    tool(
      'read_channel',
      'Reads messages of a channel, the latest first; needs the scope channels:history',
      {
        method: 'GET',
        url: 'https://slack.com/api/conversations.history',
        query: ['channel', 'limit', 'cursor', 'oldest'],
      },
      {
        channel: requiredField(text('Id of the channel')),
        limit: integerField('Items, at most', 999),
        cursor: text('next_cursor of the page before'),
        oldest: text('Only after this timestamp'),
      },
    ),
  ],
};

export const discord: Provider = {
  slug: 'discord',
  name: 'Discord',
  description: 'The account on Discord, and the servers that it is in',
  category: 'Messages',
  logo: 'DI',
  docsUrl: 'https://discord.com/developers/docs/topics/oauth2',
  app: 'discord',
  protocol: 'oauth2',
  authorizeUrl: 'https://discord.com/oauth2/authorize',
  tokenUrl: 'https://discord.com/api/oauth2/token',
  clientAuth: 'basic',
  scopes: [
    { name: 'email', description: 'Read the email address' },
    { name: 'guilds', description: 'See the servers', default: true },
    { name: 'guilds.members.read', description: 'Read the nickname of the account on a server' },
  ],
  alwaysScopes: ['identify'],
  hosts: ['discord.com'],
  send: BEARER,
  account: { request: { method: 'GET', url: 'https://discord.com/api/v10/users/@me' }, label: [['username']] },
  revoke: buildRfc7009Revocation('https://discord.com/api/oauth2/token/revoke', 'basic'),
  tools: [
    tool('get_user', 'Reads the profile', { method: 'GET', url: 'https://discord.com/api/v10/users/@me' }),
    tool('list_servers', 'Lists the servers that the account is in', {
      method: 'GET',
      url: 'https://discord.com/api/v10/users/@me/guilds',
    }),
  ],
};

export const zoom: Provider = {
  slug: 'zoom',
  name: 'Zoom',
  description: 'Meetings',
  category: 'Messages',
  logo: 'ZM',
  docsUrl: 'https://developers.zoom.us/docs/integrations/oauth/',
  app: 'zoom',
  protocol: 'oauth2',
  authorizeUrl: 'https://zoom.us/oauth/authorize',
  tokenUrl: 'https://zoom.us/oauth/token',
  clientAuth: 'basic',
  // The scopes that the Zoom app has; an authorization request that names none gets all of them.
  scopes: [
    { name: 'meeting:read:list_meetings', description: 'List meetings' },
    { name: 'meeting:write:meeting', description: 'Create meetings' },
    { name: 'user:read:user', description: 'Read the profile' },
  ],
  hosts: ['api.zoom.us'],
  send: BEARER,
  account: { request: { method: 'GET', url: 'https://api.zoom.us/v2/users/me' }, label: [['email']] },
  revoke: buildRfc7009Revocation('https://zoom.us/oauth/revoke', 'basic', 'access'),
  tools: [
    tool(
      'list_meetings',
      'Lists meetings',
      {
        method: 'GET',
        url: 'https://api.zoom.us/v2/users/me/meetings',
        query: ['type', 'page_size', 'next_page_token'],
      },
      {
        type: enumField('Which ones', 'scheduled', 'live', 'upcoming', 'previous_meetings'),
        page_size: integerField('Items on a page', 300),
        next_page_token: text('Of the page before'),
      },
    ),
    tool(
      'create_meeting',
      'Creates a meeting',
      {
        method: 'POST',
        url: 'https://api.zoom.us/v2/users/me/meetings',
        json: ['topic', 'type', 'start_time', 'duration', 'timezone', 'agenda'],
      },
      {
        topic: requiredField(text('Title')),
        type: integerField('1 now, 2 at a time, 8 again and again', 8),
        start_time: text('ISO 8601'),
        duration: integerField('Minutes', 1_440),
        timezone: text('Such as Europe/Berlin'),
        agenda: text('What it is about'),
      },
    ),
  ],
};

export const microsoft: Provider = {
  slug: 'microsoft-365',
  name: 'Microsoft 365',
  description: 'Outlook, OneDrive, calendars and Teams by Microsoft Graph',
  category: 'Office',
  logo: 'MS',
  docsUrl: 'https://learn.microsoft.com/en-us/graph/auth-v2-user',
  app: 'microsoft-365',
  protocol: 'oauth2',
  authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
  tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
  clientAuth: 'post',
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
  send: BEARER,
  account: {
    request: { method: 'GET', url: 'https://graph.microsoft.com/v1.0/me' },
    label: [['mail'], ['userPrincipalName']],
  },
  revoke: null,
  tools: [
    tool(
      'list_messages',
      'Lists messages of the mailbox, the latest first',
      { method: 'GET', url: 'https://graph.microsoft.com/v1.0/me/messages', query: ['$top', '$filter', '$search'] },
      {
        $top: integerField('Items, at most', 1_000),
        $filter: text('Such as: isRead eq false'),
        $search: text('Words in quotation marks'),
      },
    ),
    tool(
      'send_mail',
      'Sends a message; needs the scope Mail.Send',
      { method: 'POST', url: 'https://graph.microsoft.com/v1.0/me/sendMail', json: ['message'] },
      { message: requiredField(object('{"subject", "body": {"contentType", "content"}, "toRecipients": [...]}')) },
    ),
    tool(
      'list_events',
      'Lists what is in the calendar between two times',
      {
        method: 'GET',
        url: 'https://graph.microsoft.com/v1.0/me/calendarView',
        query: ['startDateTime', 'endDateTime', '$top'],
      },
      {
        startDateTime: requiredField(text('ISO 8601')),
        endDateTime: requiredField(text('ISO 8601')),
        $top: integerField('Items, at most', 1_000),
      },
    ),
  ],
};
