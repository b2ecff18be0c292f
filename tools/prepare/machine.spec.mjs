import { assertNode } from './machine.mjs';

it.each(['v20.19.0', 'v22.12.0', 'v24.0.0'])('takes Node %s', (version) => {
  expect(() => assertNode(version)).not.toThrow();
});

it.each(['v18.19.0', 'v20.18.3', 'v21.7.0', 'v22.11.0'])(
  'says at once that npm cannot install everything with Node %s',
  (version) => {
    expect(() => assertNode(version)).toThrow(
      `Belay needs Node 20.19, 22.12 or newer to install its packages, and this is ${version}:`,
    );
  },
);
