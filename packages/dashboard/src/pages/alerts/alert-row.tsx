import { Text } from '@mantine/core';
import { Link } from 'react-router';
import { AlertStatusChip } from '../../alerts/alert-status';
import { AlertSubject } from '../../alerts/alert-subject';
import { type Alert, channelsOf, saidOf, titleOf } from '../../alerts/alert-words';
import { alertPath } from '../../shell/paths';

export function AlertRow({ alert }: { alert: Alert }) {
  const about = [saidOf(alert.on), ...(alert.description ? [channelsOf(alert).join(', ')] : [])];
  return (
    <li>
      <div>
        <Link to={alertPath(alert.id)} className="title-link">
          {titleOf(alert)}
        </Link>
        {about.map((text) => (
          <Text key={text} className="wrap-anywhere" fz="sm" c="dimmed">
            {text}
          </Text>
        ))}
      </div>
      <Text className="wrap-anywhere" fz="sm" c="dimmed">
        <AlertSubject alert={alert} />
      </Text>
      <AlertStatusChip alert={alert} />
    </li>
  );
}
