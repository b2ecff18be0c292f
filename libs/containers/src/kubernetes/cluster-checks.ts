import { errorFrom, type Check } from '@belay/protocol';
import { agentSandbox } from './agent-sandbox.js';
import type { Cluster, Right } from './cluster.js';

/** What a server does in its namespace; the Role in docs/kubernetes.md has exactly these. */
const neededRights: readonly Right[] = [
  ...['create', 'delete', 'get', 'list', 'watch'].map((verb) => ({ verb, resource: 'pods' })),
  { verb: 'get', resource: 'pods', subresource: 'log' },
  { verb: 'create', resource: 'secrets' },
  ...['create', 'delete', 'get', 'list'].map((verb) => ({
    verb,
    resource: 'persistentvolumeclaims',
  })),
];

const sandboxRights: readonly Right[] = ['create', 'delete'].map((verb) => ({
  verb,
  resource: agentSandbox.plural,
  group: agentSandbox.group,
}));

/** Whether the cluster can run containers: the first check is whether it responds. */
export async function clusterChecks(open: () => Cluster): Promise<Check[]> {
  try {
    const cluster = open();
    const needed = [...neededRights, ...(cluster.usesSandboxes ? sandboxRights : [])];
    const allowed = await Promise.all(needed.map((right) => cluster.may(right)));
    const missing = needed.filter((_, index) => !allowed[index]).map(nameOf);
    return [
      { name: 'Kubernetes', ok: true, detail: 'The cluster responds.', remedy: null },
      {
        name: 'Rights in the namespace',
        ok: missing.length === 0,
        detail:
          missing.length === 0
            ? `All that are needed in ${cluster.namespace}.`
            : `Not allowed in ${cluster.namespace}: ${missing.join(', ')}.`,
        remedy: missing.length === 0 ? null : 'Apply the Role of docs/kubernetes.md.',
      },
    ];
  } catch (error) {
    return [
      {
        name: 'Kubernetes',
        ok: false,
        detail: errorFrom(error).message,
        remedy: 'Check the cluster’s address in the kubeconfig, and that it runs.',
      },
    ];
  }
}

const nameOf = ({ verb, resource, subresource }: Right): string =>
  `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
