import { joinServer, type JoinOptions } from './join.js';

describe('belay join', () => {
  it.each<[JoinOptions, string]>([
    [{ memory: 512 }, '--memory is for agents in containers: add --container or --kubernetes.'],
    [
      { container: true, namespace: 'agents' },
      '--namespace is for agents in pods: add --kubernetes.',
    ],
    [{ podFiles: true }, '--pod-files is for agents in pods: add --kubernetes.'],
    [{ container: true, kubernetes: true }, 'Agents run in containers or in pods: leave one out.'],
  ])('refuses %j', async (options, sentence) => {
    await expect(joinServer('https://belay.example.com', options)).rejects.toThrow(sentence);
  });
});
