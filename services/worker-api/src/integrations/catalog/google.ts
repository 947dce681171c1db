/** Google's services: one OAuth client, and an entry for each. */
import {
  buildAccount,
  buildProvider,
  buildRfc7009Revocation,
  integerField,
  object,
  type Provider,
  requiredField,
  type Scope,
  text,
  tool,
} from './provider';

const GOOGLE = {
  category: 'Office',
  docsUrl: 'https://developers.google.com/identity/protocols/oauth2/web-server',
  app: 'google',
  protocol: 'oidc',
  issuer: 'https://accounts.google.com',
  authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  // Without these there is a refresh token at the first consent alone.
  authorizeParams: { access_type: 'offline', prompt: 'consent' },
  alwaysScopes: ['openid', 'email'],
  account: buildAccount('GET https://openidconnect.googleapis.com/v1/userinfo', ['email'], ['sub']),
  revoke: buildRfc7009Revocation('https://oauth2.googleapis.com/revoke', 'none'),
} as const satisfies Partial<Provider>;

const scope = (name: string, description: string, isDefault?: true): Scope => ({
  name: `https://www.googleapis.com/auth/${name}`,
  description,
  ...(isDefault && { default: true }),
});

const USERINFO_HOST = 'openidconnect.googleapis.com';

export const gmail = buildProvider({
  ...GOOGLE,
  slug: 'gmail',
  name: 'Gmail',
  description: 'Mail of a Google account',
  logo: 'GM',
  scopes: [
    scope('gmail.readonly', 'Read mail and settings', true),
    scope('gmail.send', 'Send mail'),
    scope('gmail.compose', 'Write drafts and send them'),
    scope('gmail.modify', 'Read, write and send mail, without deleting it for good'),
    scope('gmail.labels', 'See and edit labels'),
  ],
  hosts: ['gmail.googleapis.com', USERINFO_HOST],
  apiUrl: 'https://gmail.googleapis.com/gmail/v1/users/me',
  tools: {
    search_messages: tool('Lists ids of messages that a search finds, the latest first', 'GET /messages', {
      q: text('As in the search box: from:ada@example.com newer_than:7d'),
      maxResults: integerField('Items, at most', 500),
      pageToken: text('nextPageToken of the page before'),
    }),
    get_message: tool('Reads one message', 'GET /messages/{id}', {
      id: requiredField(text('Id of the message')),
      format: text('full, metadata or minimal'),
    }),
    send_message: tool('Sends a message; needs the scope gmail.send', 'POST /messages/send', {
      raw: requiredField(text('The whole message as RFC 5322 has it, in base64url')),
      threadId: text('Thread that it answers in'),
    }),
  },
});

export const googleDrive = buildProvider({
  ...GOOGLE,
  slug: 'google-drive',
  name: 'Google Drive',
  description: 'Files and folders of a Google account',
  logo: 'GD',
  scopes: [
    scope('drive.readonly', 'Read all files', true),
    scope('drive.file', 'Read and write files that it made itself, or that were opened with it'),
    scope('drive', 'Read and write all files'),
    scope('drive.metadata.readonly', 'Read names and properties of files'),
  ],
  hosts: ['www.googleapis.com', USERINFO_HOST],
  apiUrl: 'https://www.googleapis.com/drive/v3',
  tools: {
    search_files: tool('Lists files that a query finds', 'GET /files', {
      q: text("Such as: name contains 'report' and trashed = false"),
      pageSize: integerField('Items on a page', 1_000),
      pageToken: text('nextPageToken of the page before'),
      fields: text('Such as: files(id,name,mimeType,modifiedTime)'),
      orderBy: text('Such as: modifiedTime desc'),
    }),
    get_file: tool('Reads the properties of a file', 'GET /files/{fileId}', {
      fileId: requiredField(text('Id of the file')),
      fields: text('Such as: id,name,mimeType,size'),
    }),
    export_file: tool('Reads a document of Google in another format, up to 10 MB', 'GET /files/{fileId}/export', {
      fileId: requiredField(text('Id of the file')),
      mimeType: requiredField(text('Such as text/csv or application/pdf')),
    }),
  },
});

export const googleCalendar = buildProvider({
  ...GOOGLE,
  slug: 'google-calendar',
  name: 'Google Calendar',
  description: 'Calendars and events of a Google account',
  logo: 'GC',
  scopes: [
    scope('calendar.readonly', 'Read calendars and events', true),
    scope('calendar.events', 'Read and write events'),
    scope('calendar', 'Read and write calendars and events'),
  ],
  hosts: ['www.googleapis.com', USERINFO_HOST],
  apiUrl: 'https://www.googleapis.com/calendar/v3',
  tools: {
    list_events: tool('Lists events of a calendar', 'GET /calendars/{calendarId}/events', {
      calendarId: requiredField(text('Id of the calendar, or primary')),
      timeMin: text('Only those that end after this, RFC 3339'),
      timeMax: text('Only those that begin before this, RFC 3339'),
      q: text('Words in them'),
      maxResults: integerField('Items, at most', 2_500),
      pageToken: text('nextPageToken of the page before'),
    }),
    create_event: tool('Creates an event; needs the scope calendar.events', 'POST /calendars/{calendarId}/events', {
      calendarId: requiredField(text('Id of the calendar, or primary')),
      summary: requiredField(text('Title')),
      description: text('More of it'),
      location: text('Where it is'),
      start: requiredField(object('{"dateTime": RFC 3339, "timeZone"?} or {"date": "2026-01-05"}')),
      end: requiredField(object('As start')),
    }),
  },
});

export const googleSheets = buildProvider({
  ...GOOGLE,
  slug: 'google-sheets',
  name: 'Google Sheets',
  description: 'Spreadsheets of a Google account',
  logo: 'GS',
  scopes: [
    scope('spreadsheets.readonly', 'Read spreadsheets'),
    scope('spreadsheets', 'Read and write spreadsheets', true),
  ],
  hosts: ['sheets.googleapis.com', USERINFO_HOST],
  apiUrl: 'https://sheets.googleapis.com/v4/spreadsheets',
  tools: {
    read_range: tool('Reads the cells of a range', 'GET /{spreadsheetId}/values/{range}', {
      spreadsheetId: requiredField(text('Id of the spreadsheet, from its address')),
      range: requiredField(text('Such as: Sheet1!A1:D20')),
      majorDimension: text('ROWS or COLUMNS'),
      valueRenderOption: text('FORMATTED_VALUE, UNFORMATTED_VALUE or FORMULA'),
    }),
    append_rows: tool(
      'Adds rows after the table in a range',
      'POST /{spreadsheetId}/values/{range}:append?valueInputOption=USER_ENTERED',
      {
        spreadsheetId: requiredField(text('Id of the spreadsheet, from its address')),
        range: requiredField(text('Such as: Sheet1!A:D')),
        values: requiredField({ type: 'array', items: { type: 'array' }, description: 'Rows of cells' }),
      },
    ),
  },
});
