import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PreparedPublish, PublishedChange } from '@belay/protocol';
import { sampled } from '@belay/testing';
import { gitIn, put, startForge, type PlayedForge } from '@belay/testkit';
import { ProofBlocks } from '../../../publishing/proof-blocks.js';
import { TestServer } from '../../../testing/server.js';
import { Forges } from '../../forges/forges.js';
import type { OutgoingRow } from '../outgoing.store.js';
import { sendPullText } from './send-pull-text.js';

const belay = new TestServer();
const folder = mkdtempSync(join(tmpdir(), 'belay-pull-text-'));
let played: PlayedForge;
beforeAll(() => belay.start());
afterAll(async () => {
  await belay.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => played.close());

/** The patch that an agent leaves after it wrote files into a clone. */
function patchOf(source: string, files: readonly string[]): Buffer {
  const work = mkdtempSync(join(folder, 'work-'));
  execFileSync('git', ['clone', '-q', source, work]);
  for (const name of files) put(work, name, `${name}\n`);
  gitIn(work, 'add', '--all');
  return execFileSync('git', ['-C', work, 'diff', '--cached', '--binary', '--full-index', 'HEAD']);
}

it.each(sampled(1, ['gitlab', 'github', 'gitea'] as const))(
  'a pull request on the played %s tells of the commit that was pushed last',
  async (kind) => {
    played = await startForge(kind, { repository: 'acme/api', level: 'write' });
    const { state, git, url, token } = played;
    await belay.json('PUT', `/api/git/hosts/${git.host}`, {
      private: true,
      insecure: true,
      kind,
      token,
    });
    const session = await belay.session({ repository: { url } });
    const publish = async (files: string[], title: string): Promise<string> => {
      belay.sandboxes.patch = () => [patchOf(state.git.folder, files)];
      const path = `/api/sessions/${session}/publish`;
      const target = { branch: 'belay/12' };
      const { id } = await belay.json<PreparedPublish>('POST', `${path}/prepare`, target);
      const pullRequest = { title, body: 'Why.', draft: true };
      const wanted = { ...target, id, message: title, pullRequest };
      return (await belay.json<PublishedChange>('POST', path, wanted)).commit;
    };
    const first = await publish(['a.txt'], 'Add a');
    const [pull] = state.pulls;
    if (!pull) throw new Error('No pull request was opened.');
    const send = async (commit: string) => {
      const forge = belay.app.get(Forges).open(git.host, 'acme/api');
      const title = { given: ['Add a'], wanted: 'Add a and b' };
      const row = { content: JSON.stringify({ commit, title }) } as OutgoingRow;
      return sendPullText({
        run: 'run-1',
        forge,
        subject: { number: pull.number, isPull: true },
        self: () => forge.self(),
        row,
        proofs: belay.app.get(ProofBlocks),
        rows: [row],
      });
    };
    state.addUser('ada', { level: 'write' });
    state.editIssue(pull, { by: 'ada', body: `Ada’s note.  \n\n${pull.body}\n\n- [ ] tested\n` });
    const second = await publish(['a.txt', 'b.txt'], 'Add b');
    expect(pull.body).toContain(`belay verify ${first}`);
    expect(pull.body).not.toContain(second);
    const sent = await send(second);
    expect(sent).toMatchObject({ url: expect.stringContaining('acme/api') as string });
    expect(pull.body).toMatch(/^Ada’s note\. {2}\n\nWhy\..*\n\n- \[ \] tested\n$/s);
    expect(pull.body).toContain(`belay verify ${second}`);
    expect(pull.body).not.toContain(`belay verify ${first}`);
    expect(pull.body).toContain(`\n- Earlier: ${first}, not run again\n`);
    expect(pull.title).toMatch(/^(?:Draft: |WIP: )?Add a and b$/);
    expect(pull.pull.isDraft).toBe(true);
    const changes = () => played.player.seen.filter(({ method }) => /^(?:PATCH|PUT)$/.test(method));
    const before = changes().length;
    await send(second);
    // What is older and comes later does not replace it.
    await send(first);
    expect(changes()).toHaveLength(before);
  },
);
