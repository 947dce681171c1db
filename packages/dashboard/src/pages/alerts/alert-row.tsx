import { Text } from '@mantine/core';
import { Link } from 'react-router';
import { alertChannelLabels, alertTitle } from '../../alerts/alert-channels';
import { type Alert, alertTypesLabel } from '../../alerts/alert-labels';
import { AlertStatusChip } from '../../alerts/alert-status';
import { AlertSubject } from '../../alerts/alert-subject';
import { alertPath } from '../../shell/paths';

export function AlertRow({ alert }: { alert: Alert }) {
  const about = [alertTypesLabel(alert.on), ...(alert.description ? [alertChannelLabels(alert).join(', ')] : [])];
  return (
    <li>
      <div>
        <Link to={alertPath(alert.id)} className="title-link">
          {alertTitle(alert)}
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
