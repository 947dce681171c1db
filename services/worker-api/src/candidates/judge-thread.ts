/** Runs the thread that compares outputs, which code of members has written. */
import { serveTasks } from '@gantry/thread-pool';
import { judgeEndings } from './judge-endings';

serveTasks(judgeEndings);
