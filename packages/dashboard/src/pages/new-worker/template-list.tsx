import { Link } from 'react-router';
import { templatePath } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import linkCard from '../../ui/link-card.module.css';
import { PageHead } from '../../ui/page-head';
import { TEMPLATES } from '../../workers/templates/all';
import type { WorkerTemplate } from '../../workers/templates/template';
import { EMPTY } from './empty-template';
import styles from './new-worker.module.css';
import { startsByItself } from './starts-by-itself';

export function TemplateList() {
  useTitle('New worker');
  return (
    <>
      <PageHead title="New worker" about="Each of these runs as it is. Choose one, try it, then change its code." />
      <ul className={styles.templates}>
        {[...TEMPLATES, EMPTY].map((template) => (
          <Card key={template.id} template={template} />
        ))}
      </ul>
    </>
  );
}

function Card({ template }: { template: WorkerTemplate }) {
  return (
    <li className={`${linkCard.card} ${styles.card}`} data-own={template === EMPTY || undefined}>
      <h2>
        <Link to={templatePath(template.id)}>{template.name}</Link>
      </h2>
      <p className={styles.about}>{template.about}</p>
      <p className={styles.starts}>{startsByItself(template)}</p>
    </li>
  );
}
