import { join } from 'node:path';
import { repositoryRoot } from '../environment.js';
import { clusterCommand } from './cluster-command.js';

export const chartFolder = join(repositoryRoot, 'docker/kubernetes');

/** Helm’s own idea of it is that of its build. */
const kubernetesVersion = '1.34';

/** The objects of the chart with these values, as YAML. Rejects with Helm’s error where the chart refuses them. */
export function renderChart(namespace: string, values: object): Promise<string> {
  const version = ['--kube-version', kubernetesVersion];
  const args = ['template', 'belay', chartFolder, '--namespace', namespace, ...version];
  return clusterCommand('helm', [...args, '--values', '-'], { input: JSON.stringify(values) });
}
