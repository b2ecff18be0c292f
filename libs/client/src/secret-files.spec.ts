import { looksSecret, secretIn } from './secret-files.js';

it.each([
  '.env',
  'app/.env.local',
  'deploy/Server.PEM',
  '.ssh/id_ed25519',
  'config/credentials.json',
])('the name %s is one of a secret', (path) => {
  expect(looksSecret(path)).toBe(true);
});

it.each(['.env.example', 'id_rsa.pub', 'src/env.ts', 'keyboard.ts', 'docs/secrets.md'])(
  'the name %s is not',
  (path) => {
    expect(looksSecret(path)).toBe(false);
  },
);

it.each([
  ['a private key', `x\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl`],
  ['an AWS key', `id = "AKIA${'A1'.repeat(8)}"`],
  ['a GitHub token', `ghp_${'a'.repeat(36)}`],
  ['an Anthropic key', `ANTHROPIC_API_KEY=sk-ant-${'a1_-'.repeat(10)}`],
  ['an npm token', '//registry.example/:_authToken=0123456789'],
])('finds %s in a text', (what, text) => {
  expect(secretIn(text)).toBe(what);
});

it.each(['-----BEGIN PUBLIC KEY-----', 'task-list-of-the-week', '_authToken=${NPM_TOKEN}', 'AKIA'])(
  'finds nothing in %j',
  (text) => {
    expect(secretIn(text)).toBeUndefined();
  },
);
