import { podSettings, type PodOptions } from './pod-settings.js';

const needed: PodOptions = {
  image: 'registry.example.com/belay/sandbox:1',
  runtimeImage: 'registry.example.com/belay/runtime:1',
  agentUrl: 'wss://192.0.2.1:4601',
};

describe('the settings of belay join --kubernetes', () => {
  it('name the cluster, and how many sandboxes it takes', () => {
    const more = { memory: 1024, cpus: 1, maxSandboxes: 3, podFiles: true, allowImage: ['node:*'] };
    expect(podSettings({ ...needed, ...more }, '/home/me/.kube/config')).toMatchObject({
      kubeconfig: '/home/me/.kube/config',
      namespace: 'belay-sandboxes',
      podFiles: true,
      allowUnconfined: false,
      limits: { memoryMb: 1024, cpus: 1 },
      capacity: { sandboxes: 3, memoryMb: 3072, cpus: 3, images: [needed.image, 'node:*'] },
    });
    expect(podSettings(needed, '').kubeconfig).toBeUndefined();
  });

  it('say where and how the cluster runs pods', () => {
    const more = { runtimeClass: 'gvisor', podScheduling: '{"nodeSelector":{"pool":"agents"}}' };
    expect(podSettings({ ...needed, ...more }, undefined).scheduling).toEqual({
      runtimeClassName: 'gvisor',
      nodeSelector: { pool: 'agents' },
    });
  });

  it.each([
    [{ image: undefined }, '--kubernetes needs --image'],
    [{ runtimeImage: undefined }, '--kubernetes needs --image and --runtime-image'],
    [{ agentUrl: undefined }, '--agent-url wss://HOST:PORT.'],
    [{ agentUrl: 'wss://192.0.2.1' }, '--agent-url: write it with a port: wss://HOST:PORT.'],
    [{ agentUrl: 'https://192.0.2.1:1' }, '--agent-url: write wss://HOST:PORT'],
    [{ runtimeClass: 'gVisor' }, '--runtime-class: write the name of a class of the cluster.'],
    [{ podScheduling: 'pool=agents' }, '--pod-scheduling: write JSON, such as {'],
    [{ podScheduling: '{"tolerations":{}}' }, '--pod-scheduling.tolerations: Invalid input'],
  ])('refuse %j in one sentence', (wrong, sentence) => {
    expect(() => podSettings({ ...needed, ...wrong } as PodOptions, undefined)).toThrow(sentence);
  });
});
