import type { NatsOptions } from './nats';
import { writeNatsConfig } from './nats-config';
import { readInput } from './run-once';

void readInput<Omit<NatsOptions, 'command'>>().then(writeNatsConfig);
