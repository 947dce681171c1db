import { Link } from 'react-router';
import { FROM_SKILL, templatePath } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import linkCard from '../../ui/link-card.module.css';
import { PageHead } from '../../ui/page-head';
import { TEMPLATES } from '../../workers/templates/all';
import { isAgent, type WorkerTemplate } from '../../workers/templates/template';
import { EMPTY } from './empty-template';
import styles from './new-worker.module.css';
import { startsByItself } from './starts-by-itself';

interface Choice {
  id: string;
  name: string;
  about: string;
  starts: string;
  /** Of one's own, not ready to run. */
  isOwn: boolean;
}

const choiceOf = (template: WorkerTemplate): Choice => {
  const { id, name, about } = template;
  return { id, name, about, starts: startsByItself(template), isOwn: template === EMPTY };
};

const SKILL: Choice = {
  ...{ id: FROM_SKILL, name: 'From a skill', starts: 'When somebody runs it', isOwn: true },
  about: 'A text that your team keeps under Skills becomes the task.',
};

const GROUPS: [name: string, about: string, choices: Choice[]][] = [
  [
    'Code',
    'Python functions, for what can be said exactly.',
    [...TEMPLATES.filter((one) => !isAgent(one)), EMPTY].map(choiceOf),
  ],
  [
    'Agents',
    'A language model works on a task in words, with the tools that you let it have.',
    [...TEMPLATES.filter(isAgent).map(choiceOf), SKILL],
  ],
];

export function TemplateList() {
  useTitle('New worker');
  return (
    <>
      <PageHead
        title="New worker"
        about={
          <span>
            Each of these runs as it is. Choose one, try it, then change it. <a href="#agents">Agents</a> are below.
          </span>
        }
      />
      <div className={styles.groups}>
        {GROUPS.map(([name, about, choices]) => (
          <Group key={name} name={name} about={about} choices={choices} />
        ))}
      </div>
    </>
  );
}

function Group({ name, about, choices }: { name: string; about: string; choices: Choice[] }) {
  const id = name.toLowerCase();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{name}</h2>
      <p className={styles.about}>{about}</p>
      <ul className={styles.templates}>
        {choices.map((choice) => (
          <li key={choice.id} className={`${linkCard.card} ${styles.card}`} data-own={choice.isOwn || undefined}>
            <h3>
              <Link to={templatePath(choice.id)}>{choice.name}</Link>
            </h3>
            <p className={styles.about}>{choice.about}</p>
            <p className={styles.starts}>{choice.starts}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
