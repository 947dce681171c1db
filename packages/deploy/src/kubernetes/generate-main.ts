/** `npm run chart`: writes the Helm chart to k8s/chart, and what is made from tables, which tests compare. */
import path from 'node:path';
import { filesFromTables, filesOfChart, writeFiles } from './generated-files';
import { root } from './rendered-manifests';

writeFiles(root, filesFromTables());
writeFiles(path.join(root, 'k8s/chart'), filesOfChart());
