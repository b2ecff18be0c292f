import { machineCalls } from './machine-connection.js';

const takes = (image: string | null): boolean => startOf({ image });
const startOf = (more: object): boolean =>
  machineCalls['host.start'].input.safeParse({
    id: 'one',
    label: 'one',
    labels: {},
    image: null,
    rights: 'hardened',
    env: {},
    files: 'one',
    keptFiles: [],
    placedFiles: [],
    ...more,
  }).success;

it('attacks: an agent on a machine starts in an image by its name, and in nothing else', () => {
  for (const image of [null, 'node:24', `ghcr.io/me/app@sha256:${'a'.repeat(64)}`])
    expect({ image, taken: takes(image) }).toEqual({ image, taken: true });
  for (const image of ['', 'a b', '--privileged', 'localhost:5000/$(id)', '../app', 'A:B'])
    expect({ image, taken: takes(image) }).toEqual({ image, taken: false });
});

it('attacks: a container on a machine has no names that lead elsewhere, and no labels of others', () => {
  const home = (name: string) => ({ keptFiles: [{ name, path: '/home', readOnly: true }] });
  const honest = [
    { id: 'a1' },
    { files: 'a-1_b' },
    home('h'),
    { labels: { 'belay.session': 's' } },
  ];
  for (const more of honest) expect({ more, taken: startOf(more) }).toEqual({ more, taken: true });
  for (const name of ['', '../a', '/etc', 'a,b', 'a=b', '*', 'a b'])
    for (const more of [{ id: name }, { files: name }, home(name)])
      expect({ more, taken: startOf(more) }).toEqual({ more, taken: false });
  for (const label of ['belay.instance', 'belay.data', 'belay.sandbox', 'belay.sidecar', 'other'])
    expect(startOf({ labels: { [label]: 'x' } })).toBe(false);
});
