/** Whether this tab receives changes: `offline` only after a longer interruption. */
import { createStore } from '../../ui/store';

export const liveConnection = createStore<'connecting' | 'live' | 'offline'>('connecting');
