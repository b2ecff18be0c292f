import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { itLong, sampled } from '@belay/testing';
import fc from 'fast-check';
import { z } from 'zod';
import { Config } from '../../config.js';
import { GitHosts } from '../../git/git-hosts.js';
import { SigningKeys } from '../../proof/signing-keys.js';
import { TestLogs } from '../../testing/logs.js';
import { KnownSecrets } from './known-secrets.js';
import { OutgoingCheck } from './outgoing-check.js';

const token = `ghx_${randomBytes(27).toString('base64url')}`;
const found = 'It holds the token of github.com.';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => letters[parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}
const each = (text: string, form: (sign: string) => string) => Array.from(text, form).join('');
const code = (sign: string) => sign.codePointAt(0) ?? 0;
const rot13 = (text: string) =>
  text.replaceAll(/[a-z]/gi, (sign) => {
    const first = sign < 'a' ? 65 : 97;
    return String.fromCharCode(((code(sign) - first + 13) % 26) + first);
  });

const encodings: Readonly<Record<string, (text: string) => string>> = {
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 at offset 1': (text) => Buffer.from(`x${text}`).toString('base64'),
  'base64 at offset 2': (text) => Buffer.from(`xy${text}`).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  base32,
  reversed: (text) => text.split('').toReversed().join(''),
  rot13,
  entities: (text) => each(text, (sign) => `&#${code(sign)};`),
  'hex entities': (text) => each(text, (sign) => `&#x${code(sign).toString(16)};`),
  percent: (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  unicode: (text) => each(text, (sign) => `\\u${code(sign).toString(16).padStart(4, '0')}`),
  gzip: (text) => gzipSync(text).toString('base64'),
  'zlib in hex': (text) => deflateSync(text).toString('hex'),
  spaces: (text) => each(text, (sign) => `${sign} `),
  lines: (text) => text.replaceAll(/.{20}/g, '$&\n'),
  'zero-width': (text) => each(text, (sign) => `${sign}\u200b`),
};
/** What only hides characters of printable ASCII. */
const last: Readonly<Record<string, (text: string) => string>> = {
  'full width': (text) => each(text, (sign) => String.fromCodePoint(code(sign) + 0xfee0)),
  dots: (text) => each(text, (sign) => `${sign}.`),
  numbers: (text) => each(text, (sign) => `${code(sign)}, `),
  capitals: (text) => text.toUpperCase(),
};

const tooMuch = 'It is too much to check for secrets: publish less at once.';

describe('attacks: secrets on their way out', () => {
  let logs: TestLogs;
  let check: OutgoingCheck;
  beforeAll(async () => {
    logs = await new TestLogs().open({ ANTHROPIC_API_KEY: 'sk-test-4f9Qz81LmXw0pR7c' });
    const documents = await logs.documents();
    await new GitHosts(documents).set('github.com', { kind: 'github', token });
    check = new OutgoingCheck(new KnownSecrets(logs.config, documents));
  });
  afterAll(() => logs.close());

  it.each(Object.entries({ ...encodings, ...last }))('finds it as %s', async (_, encode) => {
    const text = `Here is what I found: ${encode(token)} and that is all.`;
    expect(await check.refusalOf([text])).toBe(found);
    const honest = `Here is what I found: ${encode('The crash comes from an empty list of names.')}`;
    expect(await check.refusalOf([honest])).toBeNull();
  });

  const findsBehindThree = async (numRuns: number): Promise<void> => {
    const chains = fc.array(fc.constantFrom(...Object.keys(encodings)), {
      minLength: 1,
      maxLength: 3,
    });
    const words = fc.constantFrom('', 'See ', 'The result is: ', 'a b c\n', '日本 ');
    await fc.assert(
      fc.asyncProperty(chains, words, words, async (chain, before, after) => {
        const encoded = chain.reduce((text, name) => encodings[name]?.(text) ?? text, token);
        expect(await check.refusalOf([before + encoded + after])).toBe(found);
      }),
      { numRuns },
    );
  };
  it('finds any secret behind any three codes', () => findsBehindThree(100));
  itLong('finds any secret behind many codes', () => findsBehindThree(1_000));

  it('finds a part of it, and not a few characters', async () => {
    expect(await check.refusalOf([`x ${token.slice(10, 22)} y`])).toBe(found);
    expect(await check.refusalOf([`x ${token.slice(10, 15)} y`])).toBeNull();
  });

  it('finds it over several texts, also in small pieces and in the middle of a code', async () => {
    const pieces = token.match(/.{1,9}/g) ?? [];
    expect(await check.refusalOf(pieces.map((piece) => `Then ${piece} is used.`))).toBe(
      'It holds the token of github.com, in pieces.',
    );
    const encoded = Buffer.from(token).toString('base64');
    const halves = [encoded.slice(0, 21), encoded.slice(21)];
    expect(await check.refusalOf(halves)).toBe(found);
    expect(await check.refusalOf(pieces.map(() => 'Then nothing is used.'))).toBeNull();
  });

  it.each([
    ['a branch', () => `belay/${token.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}`],
    ['the address of a picture', () => `![x](https://e.example/?q=${encodeURIComponent(token)})`],
    ['added lines', () => `+const key = "${token.slice(0, 20)}" +\n+  "${token.slice(20)}";`],
  ])('finds it in %s', async (_, text) => {
    expect(await check.refusalOf(['A change', text()])).toBe(found);
  });

  it('knows the secrets of variables, files and documents, each by what it is', async () => {
    const documents = await logs.documents();
    const open = (name: string, value: unknown) =>
      documents.open(name, z.unknown(), null).change(() => value);
    const secret = () => randomBytes(24).toString('base64url');
    const secrets = Array.from({ length: 9 }, secret);
    const [key, action, header, access, own, hook, future, env, query] = secrets;
    await open('keys', { openai: { key, url: 'https://api.example.com/v1/chat' } });
    await open('action-secrets', { notify: { WEBHOOK: action } });
    await open('mcp', [
      {
        name: 'git',
        transport: {
          type: 'http',
          url: `https://m.example/?token=${query}`,
          headers: { Authorization: `Bearer ${header}` },
        },
      },
      {
        name: 'db',
        transport: { type: 'stdio', command: 'npx', env: { ANY: env, MODE: 'production' } },
      },
    ]);
    await open('mcp-logins', {
      git: {
        url: 'https://m.example',
        client: {
          client_id: 'a-public-client-id',
          token_endpoint_auth_method: 'client_secret_basic',
        },
        tokens: { access_token: access, token_type: 'bearer' },
      },
    });
    await open('own-tokens', { token: own, viewerToken: secret() });
    await open('forge-hook-secrets', { source: hook });
    await open('not-known-yet', { deep: [{ apiKey: future }] });
    await new SigningKeys(documents).sign('text/plain', Buffer.from('x'));
    const stored = (await logs.documents()).open('signing', z.unknown(), null).value;
    const signing = z.object({ secret: z.string() }).parse(stored);
    const said = async (text = '') => check.refusalOf([`It is ${text}.`]);
    expect(await said(key)).toBe('It holds the key of openai.');
    expect(await said(action)).toBe('It holds the secret WEBHOOK of the action notify.');
    expect(await said(header)).toBe('It holds Authorization of the MCP server git.');
    expect(await said(query)).toBe('It holds url of the MCP server git.');
    expect(await said(env)).toBe('It holds ANY of the MCP server db.');
    expect(await said(access)).toBe('It holds the login at the MCP server git.');
    expect(await said(own)).toBe('It holds a token of this server.');
    expect(await said(hook)).toBe('It holds the secret of a webhook.');
    expect(await said(future)).toBe('It holds a secret of “not-known-yet”.');
    expect(await said(signing.secret)).toBe('It holds the key with which this server signs.');
    expect(await said('sk-test-4f9Qz81LmXw0pR7c')).toBe('It holds the variable ANTHROPIC_API_KEY.');
    const file = readFileSync(join(logs.config.data, 'secret.key'), 'utf8').trim();
    expect(await said(file)).toBe('It holds the key of this server’s documents.');
    const environment = {
      BELAY_DATA: logs.config.data,
      DATABASE_URL: 'postgres://belay:p4w%21Xq9k@db/b',
      NPM_TOKEN_FILE: '/run/secrets/npm',
    };
    const ofVariables = new KnownSecrets(new Config(environment), documents);
    const other = new OutgoingCheck(ofVariables);
    expect(await other.refusalOf(['p4w!Xq9k'])).toBe('It holds the variable DATABASE_URL.');
    expect(await other.refusalOf(['/run/secrets/npm'])).toBeNull();
    const honest =
      'client_secret_basic, https://api.example.com/v1/chat and a-public-client-id of npx';
    expect(await said(honest)).toBeNull();
    expect(await said('a productions site')).toBeNull();
  });

  it.each([
    ['a token of GitHub', `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5'}`],
    ['a token of GitHub', 'github_pat_11ABCDEFG0aB3dE5gH7jK9_mN1pQ3sT5vW7yZ9bC1dF3gH5'],
    ['a token of GitLab', 'glpat-aB3dE5gH7jK9mN1pQ3sT'],
    ['a key of AWS', 'AKIA2E0A8F3B244C9986'],
    ['a key of Anthropic', 'sk-ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7'],
    ['a token of Slack', 'xoxb-123456789012-aB3dE5gH7jK9'],
    ['a token of Belay', `blt_${'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5jK7mN9p'}`],
    [
      'a private key',
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${randomBytes(60).toString('base64')}\n`,
    ],
  ])('knows %s by its shape, also encoded', async (label, text) => {
    expect(await check.refusalOf([`use ${text}`])).toBe(`It holds ${label}.`);
    expect(await check.refusalOf([Buffer.from(`use ${text}`).toString('base64')])).toBe(
      `It holds ${label}.`,
    );
  });

  it.each([
    `ghp_${'x'.repeat(36)}`,
    'ghp_… and glpat-<token>',
    'AKIAAAAAAAAAAAAAAAAA',
    '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  ])('lets the placeholder %j through', async (text) => {
    expect(await check.refusalOf([text])).toBeNull();
  });

  const letsThrough = async (count: number): Promise<void> => {
    const folders = ['docs', 'docs/decisions', '.'].map((name) =>
      resolve(__dirname, '../../../../..', name),
    );
    const files = folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.md'))
        .map((name) => join(folder, name)),
    );
    const sentences = files
      .flatMap((file) => readFileSync(file, 'utf8').split(/(?<=[.!?:])\s+|\n+/))
      .filter((sentence) => sentence.length > 3);
    const some = Array.from({ length: count }, (_, at) => sentences[at % sentences.length] ?? '');
    for (let at = 0; at < some.length; at += 500)
      expect(await check.refusalOf(some.slice(at, at + 500))).toBeNull();
    expect(sentences.length).toBeGreaterThan(2_000);
  };
  it('lets sentences of the documentation through', () => letsThrough(1_000));
  itLong('lets 10,000 sentences of the documentation through', () => letsThrough(10_000));

  it('refuses what is too much', async () => {
    expect(await check.refusalOf(['x'.repeat(1_100_000)])).toBe(tooMuch);
  });

  const heavy = {
    'spaced Base64': () => Buffer.from('ab '.repeat(100_000)).toString('base64').slice(0, 900_000),
    'random hex': () => randomBytes(450_000).toString('hex'),
    'escapes of addresses': () => '%41'.repeat(300_000),
    'escapes of HTML': () => '&#65;'.repeat(180_000),
  };
  it.each(sampled(1, Object.entries(heavy)))(
    'ends with much %s, and serves others meanwhile',
    async (_, text) => {
      let served = 0;
      let now = 0;
      const turns = new Set<number>();
      let other = setImmediate(function serve() {
        served += 1;
        other = setImmediate(serve);
      });
      // Each look at the clock finds that the check's turn is over, on a fast machine as well.
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => {
        turns.add(served);
        return (now += 20);
      });
      const refusal = await check.refusalOf([text()]);
      clock.mockRestore();
      clearImmediate(other);
      expect([null, tooMuch]).toContain(refusal);
      expect(turns.size).toBeGreaterThan(5);
    },
  );
});
