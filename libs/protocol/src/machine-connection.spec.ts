import { machineCalls } from './machine-connection.js';

const takes = (image: string | null): boolean =>
  machineCalls['agents.start'].input.safeParse({
    sandbox: 'one',
    session: 'one',
    token: 'x'.repeat(40),
    workspace: 'one',
    state: 'one',
    container: { image, profile: 'hardened', tools: {} },
  }).success;

it('attacks: an agent on a machine starts in an image by its name, and in nothing else', () => {
  for (const image of [null, 'node:24', `ghcr.io/me/app@sha256:${'a'.repeat(64)}`])
    expect({ image, taken: takes(image) }).toEqual({ image, taken: true });
  for (const image of ['', 'a b', '--privileged', 'localhost:5000/$(id)', '../app', 'A:B'])
    expect({ image, taken: takes(image) }).toEqual({ image, taken: false });
});
