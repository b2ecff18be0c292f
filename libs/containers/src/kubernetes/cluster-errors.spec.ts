import { clusterError } from './cluster-errors.js';

const refusal = (message: string) => ({
  code: 403,
  body: JSON.stringify({ kind: 'Status', message: `pods "belay-abc-1" is forbidden: ${message}` }),
});

describe('what a cluster refuses', () => {
  it.each([
    [
      'pod rejected: RuntimeClass "gvisor" not found',
      'The cluster lacks a class that its pods are set to have (RuntimeClass "gvisor" not found): make it, or name another one.',
    ],
    [
      'no PriorityClass with name agents was found',
      'The cluster lacks a class that its pods are set to have (no PriorityClass with name agents was found): make it, or name another one.',
    ],
    [
      'User "system:serviceaccount:belay:belay" cannot create resource "pods"',
      'Kubernetes does not allow it: give the server the Role of docs/kubernetes.md (pods "belay-abc-1" is forbidden: User "system:serviceaccount:belay:belay" cannot create resource "pods").',
    ],
  ])('is said in one sentence: %s', (message, sentence) => {
    expect(clusterError(refusal(message))).toMatchObject({
      code: 'unavailable',
      message: sentence,
    });
  });
});
