import type { Forge } from '../../forges/forge.js';
import { commandOf } from '../command-of.js';
import {
  forgejoHook,
  giteaPayloads,
  githubCommentPayload,
  githubHook,
  githubPayloads,
  gitlabHook,
  gitlabPayloads,
  payloadSecret,
  type SentWebhook,
} from '../testing/webhook-payloads.js';
import { readDelivery } from './read-delivery.js';
import { verifySignature } from './verify-signature.js';

const now = new Date('2026-03-01T12:00:00Z');
const holds = (kind: Forge['kind'], { headers, body }: SentWebhook, secret = payloadSecret) =>
  verifySignature(kind, headers, Buffer.from(body), { secret, now });
const without = ({ headers, body }: SentWebhook, ...names: string[]): SentWebhook => ({
  body,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))),
});

describe('attacks: the signature of a webhook', () => {
  const github = githubHook('issues', githubPayloads.opened);
  const forgejo = forgejoHook('issues', giteaPayloads.opened);
  const token = gitlabHook('Issue Hook', gitlabPayloads.opened);
  const signed = gitlabHook('Issue Hook', gitlabPayloads.opened, { time: now });
  const gitea = without(forgejo, 'x-forgejo-signature', 'x-forgejo-delivery');

  const all = [
    ['github', github, ['x-hub-signature-256']],
    ['gitlab', token, ['x-gitlab-token']],
    ['gitlab', signed, ['webhook-signature']],
    ['gitea', forgejo, ['x-forgejo-signature', 'x-gitea-signature']],
    ['gitea', gitea, ['x-gitea-signature']],
  ] as const;

  it.each(all)('the honest one of %s holds', (kind, hook) => {
    expect(holds(kind, hook)).toBe(true);
  });

  it.each(all)('none, of %s', (kind, hook, names) => {
    expect(holds(kind, without(hook, ...names))).toBe(false);
  });

  it.each(all)('with another secret, of %s', (kind, hook) => {
    expect(holds(kind, hook, 'another')).toBe(false);
    expect(holds(kind, hook, '')).toBe(false);
  });

  it.each(all.filter(([, hook]) => hook !== token))('of a changed body, of %s', (kind, hook) => {
    expect(holds(kind, { ...hook, body: hook.body.replace('fails', 'works') })).toBe(false);
  });

  it.each(all)('cut, longer, twice or in other letters, of %s', (kind, hook, [name]) => {
    const value = hook.headers[name] ?? '';
    // Several signatures may be given the new way of GitLab, of which one must be right.
    const twice = name === 'webhook-signature' ? [] : [`${value}, ${value}`];
    for (const bad of [value.slice(0, -2), `${value}00`, ...twice, ''])
      expect(
        holds(kind, { ...hook, headers: { ...without(hook, name).headers, [name]: bad } }),
      ).toBe(kind === 'gitea' && bad === '' && name === 'x-forgejo-signature');
  });

  it('that of another kind of host says nothing: the source chooses', () => {
    // Forgejo sends the header of GitHub as well: alone it is not one of Forgejo.
    expect(holds('gitea', github)).toBe(false);
    expect(holds('gitlab', github)).toBe(false);
    expect(holds('github', token)).toBe(false);
    expect(holds('gitea', { ...token, body: forgejo.body })).toBe(false);
  });

  it('a bad first one is not rescued by a good second one', () => {
    const bad = '0'.repeat(64);
    const headers = { ...forgejo.headers, 'x-forgejo-signature': bad };
    expect(holds('gitea', { ...forgejo, headers })).toBe(false);
    const mixed = {
      ...signed.headers,
      'webhook-signature': 'v1,AAAA',
      'x-gitlab-token': payloadSecret,
    };
    expect(holds('gitlab', { ...signed, headers: mixed })).toBe(false);
  });

  it('an old or future time of GitLab, and one that was changed', () => {
    const at = (minutes: number) =>
      gitlabHook('Issue Hook', gitlabPayloads.opened, {
        time: new Date(now.getTime() + minutes * 60_000),
      });
    expect(holds('gitlab', at(-4))).toBe(true);
    expect(holds('gitlab', at(4))).toBe(true);
    expect(holds('gitlab', at(-6))).toBe(false);
    expect(holds('gitlab', at(6))).toBe(false);
    const old = at(-6);
    const fresh = {
      ...old.headers,
      'webhook-timestamp': signed.headers['webhook-timestamp'] ?? '',
    };
    expect(holds('gitlab', { ...old, headers: fresh })).toBe(false);
    const renamed = { ...signed.headers, 'webhook-id': 'another' };
    expect(holds('gitlab', { ...signed, headers: renamed })).toBe(false);
  });
});

describe('attacks: what a signed webhook says', () => {
  const read = ({ headers, body }: SentWebhook) =>
    readDelivery('github', headers, Buffer.from(body), { fallbackId: 'x', now });

  it('nested too deep, or with too much in it', () => {
    const deep = { ...githubHook('issues', {}), body: `${'['.repeat(100_000)}` };
    expect(read(deep).refused).toBe('Its JSON is nested deeper than 64 levels.');
    const many = { ...githubPayloads.opened, more: Array.from({ length: 600_000 }, () => 0) };
    expect(read(githubHook('issues', many)).refused).toContain('values');
    expect(read(githubHook('issues', githubPayloads.opened)).refused).toBeUndefined();
  });

  it('names that are too long, and numbers that are none', () => {
    const { issue } = githubPayloads.opened;
    for (const number of [-1, 0, 1.5, '12', 2 ** 60, null])
      expect(
        read(githubHook('issues', { ...githubPayloads.opened, issue: { ...issue, number } }))
          .refused,
      ).toContain('issue.number');
    const label = { name: 'x'.repeat(301) };
    expect(read(githubHook('issues', { ...githubPayloads.labeled, label })).refused).toContain(
      'label.name',
    );
  });

  it('a key that imitates that of another thing', () => {
    const label = { name: '1:@1772366400' };
    const [occurrence] = read(
      githubHook('issues', { ...githubPayloads.labeled, label }),
    ).occurrences;
    expect(occurrence?.key).toBe('label:12:1%3A%401772366400:@1772366400');
  });
});

describe('attacks: commands', () => {
  it.each([
    '/belay fix',
    '/belay fix the test',
    '/belay fix\r\nmore',
    '/belay\tfix',
    '/belay re-run',
  ])('an honest one: %j', (body) => {
    expect(commandOf(body)).toMatch(/^(fix|re-run)$/);
  });

  it.each([
    '> /belay fix',
    '```\n/belay fix\n```',
    '    /belay fix',
    '`/belay fix`',
    'Please\n/belay fix',
    '\n/belay fix',
    '<!-- x -->/belay fix',
    '<!--\n/belay fix\n-->',
    '[x]: # (\n/belay fix',
    '/bel\u200Bay fix',
    '\u200B/belay fix',
    '\uFEFF/belay fix',
    '/belay f\u200Bix',
    '/belay fix\u200B',
    '/belay fix\uFEFFx',
    '/belay\u00A0fix',
    '/belay\u2028fix',
    '/belay \u202Efix',
    '/belay fi\u{E0078}',
    '/belay fıx',
    '/ｂelay fix',
    '/Belay fix',
    '/belay FIX',
    '/belay fix;rm',
    '/belay',
    '/belayfix',
  ])('none: %j', (body) => {
    expect(commandOf(body)).toBeUndefined();
    const { headers, body: sent } = githubHook('issue_comment', githubCommentPayload(body));
    const { occurrences } = readDelivery('github', headers, Buffer.from(sent), {
      fallbackId: 'x',
      now,
    });
    expect(occurrences).toEqual([]);
  });
});
