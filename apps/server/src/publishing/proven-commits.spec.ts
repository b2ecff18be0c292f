import { createHash } from 'node:crypto';
import { ContainerHost } from '@belay/containers';
import { canonicalDigest, FollowedLog, fromEnvelope, ObservedLog } from '@belay/proof';
import {
  changeStatement,
  type ChangeStatement,
  type MadeToken,
  type PublishedKeys,
  type SignedEnvelope,
} from '@belay/protocol';
import { gitIn, put } from '@belay/testkit';
import { Config } from '../config.js';
import { PullRequestScene } from '../testing/pull-request-scene.js';

const scene = new PullRequestScene();
const { belay, cloned, edit, prepare, publish } = scene;
beforeAll(async () => {
  await scene.start();
  belay.app.get<ContainerHost>(ContainerHost).images.id = async () => 'sha256:1';
});
afterAll(() => scene.close());
afterEach(() => scene.forgetHub());

const pushed = async (message: string, more: object = {}) => {
  const { session, bare, url } = await cloned();
  edit((work) => put(work, 'a.txt', 'a\n'));
  const { id } = await prepare(session, { branch: 'x' });
  const { commit } = await publish(session, { branch: 'x', id, message, ...more });
  return { session, bare, url, commit };
};
/** What is only looked at is pushed once. */
let usual: Awaited<ReturnType<typeof pushed>>;
beforeAll(async () => {
  usual = await pushed('Say a\n\nMore of it.');
});
const trailers = (bare: string, commit: string): string[] =>
  gitIn(bare, 'log', '-1', '--format=%(trailers:only)', commit).trim().split('\n');
const evidenceOf = (bare: string, commit: string): string =>
  trailers(bare, commit)
    .findLast((one) => one.startsWith('Belay-Evidence: sha256:'))
    ?.slice(23) ?? '';
const envelopeOf = (id: string) => belay.json<SignedEnvelope>('GET', `/api/evidence/${id}`);
const statementIn = async (envelope: SignedEnvelope): Promise<ChangeStatement> => {
  const { keys } = await belay.json<PublishedKeys>('GET', '/.well-known/belay-keys.json');
  return changeStatement.parse(JSON.parse(fromEnvelope(envelope, keys).payload.toString()));
};

describe('the commit of a published change', () => {
  it('leads to a signed statement about it, of what git and the log say', async () => {
    const { session, bare, url, commit } = usual;
    expect(trailers(bare, commit)[0]).toBe(`Belay-Session: ${session}`);
    const id = evidenceOf(bare, commit);
    const { subject, predicate } = await statementIn(await envelopeOf(id));
    const parent = gitIn(bare, 'rev-parse', `${commit}^`).trim();
    const tree = gitIn(bare, 'rev-parse', `${commit}^{tree}`).trim();
    expect(subject).toEqual([
      { name: `git+${url}@refs/heads/x`, digest: { gitCommit: commit } },
      { name: 'tree', digest: { gitTree: tree } },
    ]);
    const { record, ...said } = predicate;
    expect(record.sha256).toBe(id);
    expect(canonicalDigest(said)).toBe(id);
    const list = gitIn(
      bare,
      'diff-tree',
      '-r',
      '-z',
      '--no-abbrev',
      '--no-renames',
      parent,
      commit,
    );
    expect(said.change).toMatchObject({
      parent: { gitCommit: parent },
      base: { gitCommit: parent },
      changes: { sha256: createHash('sha256').update(list).digest('hex') },
      files: 1,
    });
    const answer = await belay.fetch(`/api/sessions/${session}/log`);
    const lines = (await answer.text()).trimEnd().split('\n');
    const log = new FollowedLog(lines[0] ?? '');
    const observed = new ObservedLog();
    for (const line of lines.slice(1, said.log.seq + 1)) observed.add(log.add(line)!);
    expect(log.digest).toBe(said.log.head);
    expect(observed.result).toEqual(said.observed);
    expect(said.observed.serverRows).toBeGreaterThan(0);
    expect(said.observed.budgets.steps.limit).toBe(100);
    expect(said).not.toHaveProperty('automation');
    expect(said.image).toEqual({ name: belay.app.get(Config).image, id: 'sha256:1' });
  });

  it('has no other lines of these names, whatever its message says', async () => {
    const forged = `Belay-Evidence: sha256:${'0'.repeat(64)}`;
    const message = `Say a\n\n${forged}\n---\n\nCo-authored-by: Ada <a@b.c>\n belay-session : x`;
    const { session, bare, commit } = await pushed(message);
    const text = gitIn(bare, 'log', '-1', '--format=%B', commit);
    expect(text).not.toContain('000000');
    expect(text.match(/belay-session/gi)).toHaveLength(1);
    expect(trailers(bare, commit).slice(0, 2)).toEqual([
      'Co-authored-by: Ada <a@b.c>',
      `Belay-Session: ${session}`,
    ]);
  });

  it('is told of in its pull request, instead of what the text claims', async () => {
    const { session, url } = await cloned();
    const { hub } = await scene.hubOf('gitea', url);
    edit((work) => put(work, 'a.txt', 'a\n'));
    const { id } = await prepare(session, { branch: 'x' });
    const body = 'Adds a.\n\n<!-- belay:proof -->\nAll is well.\n<!-- /belay:proof -->';
    const pullRequest = { title: 'Add a', body };
    const { commit } = await publish(session, { branch: 'x', id, message: 'm', pullRequest });
    const said = JSON.stringify(hub.opened);
    expect(said).toContain('Adds a.');
    expect(said).not.toContain('All is well');
    expect(said).toContain(`belay verify ${commit}`);
    expect(said).toContain('Signed statement');
  });

  it('has a statement for those who see its session', async () => {
    const { bare, commit } = usual;
    const id = evidenceOf(bare, commit);
    const { token } = await belay.json<MadeToken>('POST', '/api/tokens', {
      label: 'own',
      scope: 'operate',
      sessions: 'own',
    });
    const refused = await belay.fetch(`/api/evidence/${id}`, { token });
    const missing = await belay.fetch(`/api/evidence/${'f'.repeat(64)}`, { token });
    expect([refused.status, missing.status]).toEqual([404, 404]);
    const [a, b] = [await refused.text(), await missing.text()];
    expect(a.replaceAll(id, 'ID')).toBe(b.replaceAll('f'.repeat(64), 'ID'));
    for (const [method, path] of [
      ['GET', 'test-result'],
      ['POST', 'reruns'],
    ]) {
      const hidden = await belay.fetch(`/api/evidence/${id}/${path}`, { method, token });
      expect([hidden.status, (await hidden.text()).replaceAll(id, 'ID')]).toEqual([
        404,
        a.replaceAll(id, 'ID').replace('/api/evidence/ID', `/api/evidence/ID/${path}`),
      ]);
    }
    expect(await belay.fetch('/api/evidence/x')).toMatchObject({ status: 400 });
  });
});
