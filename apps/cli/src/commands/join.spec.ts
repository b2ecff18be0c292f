import { joinServer, type JoinOptions } from './join.js';

describe('belay join', () => {
  it.each<[JoinOptions, string]>([
    [{ memory: 512 }, '--memory is for agents in containers: add --container or --kubernetes.'],
    [
      { container: true, namespace: 'agents' },
      '--namespace is for agents in pods: add --kubernetes.',
    ],
    [{ podFiles: true }, '--pod-files is for agents in pods: add --kubernetes.'],
    [
      { container: true, allowImage: ['node:24', ''] },
      '--image and --allow-image: the name of an image: up to 200 characters, no spaces.',
    ],
    [{ container: true, kubernetes: true }, 'Agents run in containers or in pods: leave one out.'],
  ])('refuses %j', async (options, sentence) => {
    await expect(joinServer('https://belay.example.com', options)).rejects.toThrow(sentence);
  });

  it('refuses more images than a machine can tell its server', async () => {
    const allowImage = Array.from({ length: 50 }, () => 'node:*');
    const options = { container: true, image: 'node:24', allowImage };
    await expect(joinServer('https://belay.example.com', options)).rejects.toThrow(
      '--image and --allow-image: at most 50 images.',
    );
  });
});
