import { Skeleton, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { type Connection, type Integration, useCatalog } from '../../connections/connection-queries';
import { appIn, catalogServicePath, newConnectionPath, paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { SearchIcon } from '../../ui/icons';
import linkCard from '../../ui/link-card.module.css';
import { FailedToLoad, Notice } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { AccountForm } from './account-form';
import { KeyForm } from './key-form';
import styles from './new-connection.module.css';
import { ServerForm } from './server-form';

/** Connections that the catalogue does not have: anything with a key, and MCP servers. */
const OWN = {
  key: { name: 'A key', about: 'Of any service that takes one: its value goes to the hosts that you name.' },
  mcp: { name: 'An MCP server', about: 'By its address; its tools are listed here.' },
};

const isOwn = (app: string | null): app is keyof typeof OWN => app !== null && Object.hasOwn(OWN, app);

export default function NewConnectionPage() {
  useTitle('New connection');
  const role = useWorkspace()?.role;
  const [search] = useSearchParams();
  const app = appIn(search);
  const catalog = useCatalog();
  const navigate = useNavigate();
  const chosen = catalog.data?.find(({ slug }) => slug === app);
  function made({ label }: Connection) {
    toast(`${label} is connected.`);
    navigate(paths.connections);
  }
  if (role === 'viewer') {
    return (
      <Notice tone="info" title="Viewers don’t make connections">
        Ask an admin of the workspace for the role member.
      </Notice>
    );
  }
  const name = isOwn(app) ? OWN[app].name : chosen?.name;
  return (
    <>
      <PageHead
        title={name ? `Connect ${name.replace(/^An? /, (article) => article.toLowerCase())}` : 'New connection'}
        about={
          name ? (
            <>
              <Link to={paths.newConnection}>Choose something else</Link>
              {chosen && <Link to={catalogServicePath(chosen.slug)}>What its tools do</Link>}
            </>
          ) : (
            'Choose a service. You are sent to it to consent, and come back here.'
          )
        }
      />
      {app === 'key' && <KeyForm onMade={made} />}
      {app === 'mcp' && <ServerForm onMade={made} />}
      {chosen && <AccountForm key={chosen.slug} integration={chosen} onMade={made} />}
      {!name && (
        <>
          {catalog.error && <FailedToLoad what="The catalogue" error={catalog.error} retry={catalog.refetch} />}
          {catalog.isPending && <Skeleton height={320} radius={10} />}
          {catalog.data && <Catalog integrations={catalog.data} />}
        </>
      )}
    </>
  );
}

function Catalog({ integrations }: { integrations: Integration[] }) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const has = (...words: string[]) => words.join(' ').toLowerCase().includes(wanted);
  const found = integrations.filter(({ name, description, category }) => has(name, description, category));
  const own = Object.entries(OWN).filter(([, { name, about }]) => has(name, about));
  return (
    <>
      <TextInput
        className={styles.search}
        type="search"
        aria-label="Search services"
        placeholder="Search services"
        leftSection={<SearchIcon />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {found.length + own.length === 0 && (
        <p className={styles.none} role="status">
          No service here has these letters. With a key, any service can be connected.
        </p>
      )}
      <ul className={styles.services} aria-label="Services">
        {own.map(([id, { name, about }]) => (
          <li key={id} className={`${linkCard.card} ${styles.card}`} data-own>
            <Link to={newConnectionPath(id)}>{name}</Link>
            <p className={styles.about}>{about}</p>
          </li>
        ))}
        {found.map(({ slug, name, description, logo, app, tools_count: count }) => (
          <li key={slug} className={`${linkCard.card} ${styles.card}`}>
            <span className={styles.logo} aria-hidden="true">
              {logo}
            </span>
            <Link to={newConnectionPath(slug)}>{name}</Link>
            <p className={styles.about}>{description}</p>
            {app.configured === null && <p className={styles.about}>Needs an OAuth client first</p>}
            <Link className={styles.tools} to={catalogServicePath(slug)}>
              {count === 0 ? 'Rights' : count === 1 ? '1 tool' : `${count} tools`}
              <span className="visually-hidden"> of {name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
