import { itLong } from '@belay/testing';
import type { PlayedKind } from '@belay/testkit';
import type { Forge } from './forge.js';
import { ForgeBench } from './testing/forge-bench.js';

const kinds: readonly PlayedKind[] = ['github', 'gitlab', 'gitea'];

/** What holds at each kind of host. */
function describeForge(kind: PlayedKind): void {
  describe(kind, () => {
    const bench = new ForgeBench();
    /** What is large is tested at one host, and in the long tests at all. */
    const itLarge = kind === 'github' ? it : itLong;
    let forge: Forge;
    beforeAll(async () => {
      await bench.start(kind);
      forge = bench.open();
      const { state } = bench.played;
      state.addUser('ada', { level: 'write' });
      state.addUser('mia', { level: 'maintain' });
      state.addUser('eve');
    });
    afterAll(() => bench.close());
    afterEach(() => {
      bench.played.player.fail = undefined;
    });
    const state = () => bench.played.state;
    const issueBy = (by: string, more: { body?: string; labels?: string[] } = {}) => {
      const issue = state().openIssue({ by, title: 'Sum is wrong', ...more });
      return { issue, subject: { number: issue.number, isPull: false } };
    };
    const failOnce = (status: number, headers: Record<string, string> = {}, body?: unknown) => {
      bench.played.player.fail = { status, times: 1, headers, ...(body !== undefined && { body }) };
    };

    describe('identity', () => {
      it('reads the repository and the user of the token', async () => {
        expect(await forge.repository()).toEqual({
          id: String(state().id),
          path: 'acme/api',
          defaultBranch: 'main',
        });
        const { id, name } = state().self;
        expect(await forge.self()).toEqual({ id: String(id), name, isBot: false });
      });

      it('finds the level of each user, and none for strangers', async () => {
        expect(await forge.level(bench.user('ada'))).toBe('write');
        const maintain = kind === 'gitea' ? 'write' : 'maintain';
        expect(await forge.level(bench.user('mia'))).toBe(maintain);
        expect(await forge.level({ id: '999999', name: 'nobody', isBot: false })).toBe('none');
        const eve = await forge.level(bench.user('eve'));
        // Everyone may read what is public.
        expect(eve).toBe(kind === 'gitlab' ? 'none' : 'read');
      });

      it('attacks: does not take a name for the user who had it before', async () => {
        const old = state().addUser('bob', { level: 'admin' });
        const before = { id: String(old.id), name: 'bob', isBot: false };
        expect(await forge.level(before)).toBe('admin');
        const thief = { id: '424242', name: 'bob', isBot: false };
        expect(await forge.level(thief)).toBe('none');
        old.name = 'robert';
        state().addUser('bob', { level: 'admin' });
        // The one who was renamed is still found by id, and the other one by its own.
        expect(await forge.level(before)).toBe('admin');
        old.level = 'read';
        expect(await forge.level(before)).toBe('read');
        expect(await forge.level(bench.user('bob'))).toBe('admin');
      });

      it('attacks: names that a URL takes for paths are of nobody', async () => {
        for (const name of ['..', '.', '../../user', 'ada/../mia'])
          expect(
            await forge.level({ id: '7', name, isBot: false }).catch((error: unknown) => error),
          ).toEqual(
            kind === 'gitlab' || name.includes('/')
              ? 'none'
              : expect.objectContaining({ code: 'not_found' }),
          );
      });
    });

    describe('issues', () => {
      it('reads an issue as it is now', async () => {
        const { issue } = issueBy('eve', { body: 'It **subtracts**.', labels: ['bug'] });
        expect(await forge.issue(issue.number)).toMatchObject({
          number: issue.number,
          title: 'Sum is wrong',
          body: 'It **subtracts**.',
          author: bench.user('eve'),
          labels: ['bug'],
          state: 'open',
          isPull: false,
          url: expect.stringContaining('acme/api') as string,
        });
        state().editIssue(issue, { by: 'eve', body: 'Other' });
        state().setOpen(issue, false, { by: 'eve' });
        expect(await forge.issue(issue.number)).toMatchObject({ body: 'Other', state: 'closed' });
        await expect(forge.issue(9_999)).rejects.toMatchObject({ code: 'not_found' });
      });

      itLarge('reads comments, the newest 200, in their order', async () => {
        const { issue, subject } = issueBy('ada');
        for (let n = 1; n <= 345; n++) state().comment(issue, `c${n}`, { by: 'ada' });
        const found = await forge.comments(subject);
        expect(found).toHaveLength(200);
        expect(found[0]?.body).toBe('c146');
        expect(found.at(-1)).toMatchObject({ body: 'c345', author: bench.user('ada') });
      });

      it('reads one comment, only of its own issue', async () => {
        const { issue, subject } = issueBy('ada');
        const other = issueBy('ada');
        const { id } = state().comment(issue, '/belay fix', { by: 'eve' });
        expect(await forge.comment(subject, String(id))).toMatchObject({
          body: '/belay fix',
          author: bench.user('eve'),
        });
        for (const refused of [
          forge.comment(other.subject, String(id)),
          forge.comment(subject, '..'),
          forge.comment(subject, '77777777'),
        ])
          await expect(refused).rejects.toMatchObject({ code: 'not_found' });
      });

      it('comments, edits, reacts twice, and changes labels', async () => {
        const { issue, subject } = issueBy('eve', { labels: ['fix-me'] });
        state().labelNamed('working');
        const sent = await forge.addComment(subject, 'On it.');
        expect(sent.url).toContain(sent.id);
        await forge.editComment(subject, sent.id, 'Done.');
        expect(issue.comments).toMatchObject([{ id: Number(sent.id), body: 'Done.' }]);
        for (let times = 0; times < 2; times++) {
          await forge.react(subject, null);
          await forge.react(subject, sent.id);
        }
        expect(issue.reactions).toMatchObject([{ content: 'eyes' }]);
        expect(issue.comments[0]?.reactions).toMatchObject([{ content: 'eyes' }]);
        await forge.changeLabels(subject, { add: ['working'], remove: ['fix-me', 'absent'] });
        expect(issue.labels).toEqual(['working']);
        await forge.changeLabels(subject, { add: [], remove: [] });
        expect(issue.labels).toEqual(['working']);
      });

      itLarge(
        'attacks: a text that is far too long is cut, and one that is larger than answers may be is refused',
        async () => {
          const { issue } = issueBy('eve', { body: 'x'.repeat(1_000_000) });
          expect((await forge.issue(issue.number)).body).toHaveLength(262_144);
          state().editIssue(issue, { by: 'eve', body: 'x'.repeat(9 * 2 ** 20) });
          await expect(forge.issue(issue.number)).rejects.toMatchObject({
            code: 'unavailable',
            message: expect.stringContaining('too large') as string,
          });
          state().editIssue(issue, { by: 'eve', body: '' });
        },
      );

      itLarge('attacks: long comments of strangers hide no other ones', async () => {
        const { issue, subject } = issueBy('ada');
        for (let n = 0; n < 12; n++) state().comment(issue, 'x'.repeat(1_000_000), { by: 'eve' });
        state().comment(issue, 'Please fix it.', { by: 'ada' });
        const found = forge.comments(subject);
        // Gitea sends them at once, or not at all.
        if (kind === 'gitea') await expect(found).rejects.toMatchObject({ code: 'unavailable' });
        else expect((await found).at(-1)?.body).toBe('Please fix it.');
      });
    });

    describe('pull requests', () => {
      it('reads a branch of the repository, and that of a fork', async () => {
        const { pull, sha, branch } = bench.pull('ada');
        const found = await forge.pull(pull.number);
        expect(found).toMatchObject({
          sha,
          branch,
          base: 'main',
          isPull: true,
          draft: false,
          merged: false,
          headRepositoryId: String(state().id),
        });
        expect(found.baseSha).toMatch(/^[0-9a-f]{40}$/);
        const forked = bench.pull('eve', { fork: true });
        expect((await forge.pull(forked.pull.number)).headRepositoryId).toBe(
          String(forked.fork?.id),
        );
        expect(await forge.pullsAt(sha)).toMatchObject([{ number: pull.number, sha }]);
        if (forked.fork) state().deleteFork(forked.fork);
        expect((await forge.pull(forked.pull.number)).headRepositoryId).toBeNull();
        state().merge(pull, { by: 'ada' });
        expect(await forge.pull(pull.number)).toMatchObject({ merged: true, state: 'closed' });
        expect(await forge.pullsAt(sha)).toEqual([]);
      });

      it('reads a whole text, and changes only what is told of it', async () => {
        state().addUser('hal', { level: 'write' });
        const { branch } = bench.pull('hal');
        const { self } = state();
        const body = `Why. \r\n\n<!-- x -->\n${'x'.repeat(300_000)}`;
        const title = kind === 'gitlab' ? 'Draft: It' : 'It';
        const pull = state().openPull({ by: self, branch, title, body });
        const { number } = pull;
        const text = { title, body, author: bench.user(self.name) };
        expect(await forge.pullText(number)).toMatchObject(text);
        await forge.editPull(number, { body: 'Why. \r\n\n<!-- y -->  \n' });
        expect(pull).toMatchObject({ title, body: 'Why. \r\n\n<!-- y -->  \n' });
        await forge.editPull(number, { title: 'Another' });
        expect(pull).toMatchObject({ title: 'Another', body: 'Why. \r\n\n<!-- y -->  \n' });
        await expect(forge.pullText(9_999)).rejects.toMatchObject({ code: 'not_found' });
        await expect(forge.editPull(9_999, { body: '' })).rejects.toMatchObject({
          code: 'not_found',
        });
        if (kind !== 'github') return;
        // Only GitHub limits what it takes.
        await expect(forge.editPull(number, { body })).rejects.toMatchObject({ code: 'rejected' });
        expect(pull.body).toBe('Why. \r\n\n<!-- y -->  \n');
      });

      it('edits its own text without the right to write, and that of others only with it', async () => {
        state().addUser('ivy', { level: 'write' });
        const { branch, pull } = bench.pull('ivy');
        const { self } = state();
        const own = state().openPull({ by: self, branch, title: 'Own' });
        const before = self.level;
        self.level = 'read';
        await forge.editPull(own.number, { body: 'Mine' });
        const refused = forge.editPull(pull.number, { body: 'Mine' });
        await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
        self.level = before;
        expect([own.body, pull.body]).toEqual(['Mine', '']);
        await forge.editPull(pull.number, { body: 'Ours' });
        expect(pull.body).toBe('Ours');
      });

      it('reviews lines once, replies, and reads both', async () => {
        state().addUser('cleo', { level: 'write' });
        const { pull, sha } = bench.pull('cleo');
        const line = { path: 'src/sum.js', line: 2 } as const;
        const sent = await forge.addReview(pull.number, {
          sha,
          body: 'Two remarks.',
          comments: [
            { ...line, side: 'new', body: 'Good.' },
            { ...line, side: 'old', body: 'Bad.' },
            { path: 'src/sum.js', line: 1, side: 'new', body: 'Not changed.' },
          ],
        });
        expect(sent.id).not.toBe('');
        const threads = await forge.threads(pull.number);
        expect(threads).toMatchObject([
          { path: 'src/sum.js', line: 2, comments: [{ body: 'Good.' }] },
          { path: 'src/sum.js', line: null, comments: [{ body: 'Bad.' }] },
          { path: 'src/sum.js', line: 1, comments: [{ body: 'Not changed.' }] },
        ]);
        const [first] = threads;
        if (!first) throw new Error('There is no thread.');
        const replied = await forge.reply(pull.number, first, 'Done.');
        expect(replied.id).not.toBe('');
        const [again] = await forge.threads(pull.number);
        expect(again?.comments.map(({ body }) => body)).toEqual(['Good.', 'Done.']);
        const ofLine = first.comments[0]?.id ?? '';
        const subject = { number: pull.number, isPull: true };
        expect(await forge.comment(subject, ofLine)).toMatchObject({ body: 'Good.' });
        // The played Gitea has reactions to comments of issues only.
        if (kind === 'gitea') return;
        await forge.react(subject, ofLine);
        expect(pull.pull.threads[0]?.comments[0]?.reactions).toHaveLength(1);
      });

      it('says in one sentence that a line is not part of the change', async () => {
        state().addUser('dan', { level: 'write' });
        const { pull, sha } = bench.pull('dan');
        const comments = [{ path: 'src/sum.js', line: 900, side: 'new' as const, body: 'Where?' }];
        const refused = forge.addReview(pull.number, { sha, body: 'x', comments });
        if (kind === 'gitea') {
          // Gitea takes any line.
          await refused;
          return;
        }
        await expect(refused).rejects.toMatchObject({
          code: 'rejected',
          message: expect.stringContaining('The git server says') as string,
        });
        expect(pull.pull.threads).toHaveLength(0);
      });

      it('reads verdicts of reviews', async () => {
        state().addUser('fay', { level: 'write' });
        const { pull } = bench.pull('fay');
        state().review(pull, { by: 'mia', verdict: 'approved', body: 'Fine' });
        expect(await forge.reviews(pull.number)).toMatchObject([
          { verdict: 'approved', author: bench.user('mia') },
        ]);
        state().review(pull, { by: 'ada', verdict: 'changes', body: 'No' });
        const found = await forge.reviews(pull.number);
        expect(found.map(({ verdict }) => verdict).toSorted()).toEqual(['approved', 'changes']);
      });

      itLarge('gathers all checks of a commit, and none if there are none', async () => {
        state().addUser('gus', { level: 'write' });
        const { sha } = bench.pull('gus');
        expect(await forge.checks(sha)).toEqual([]);
        const runs = Array.from({ length: 104 }, (_, n) => ({
          name: `job ${n}`,
          state: 'passed' as const,
        }));
        state().setChecks(sha, [
          ...runs,
          { name: 'last', state: 'failed', summary: 'Expected 3' },
          { name: 'other', state: 'pending', kind: 'status' },
        ]);
        const checks = await forge.checks(sha);
        const named = (name: string) => checks.find((one) => one.name === name);
        expect(checks.filter((one) => one.state === 'passed')).toHaveLength(104);
        expect(named('last')).toMatchObject({ state: 'failed' });
        expect(checks.filter((one) => one.state === 'pending').length).toBeGreaterThan(0);
      });
    });

    describe('errors', () => {
      it('are sentences with a code, whatever the host answers', async () => {
        for (const [status, code] of [
          [401, 'forbidden'],
          [403, 'forbidden'],
          [404, 'not_found'],
          [410, 'not_found'],
          [409, 'rejected'],
          [422, 'rejected'],
          [500, 'unavailable'],
          [502, 'unavailable'],
        ] as const) {
          failOnce(status);
          const error: unknown = await forge.issue(1).catch((thrown: unknown) => thrown);
          expect(error).toMatchObject({
            code,
            message: expect.stringMatching(/\.$|”\.$/) as string,
          });
          expect(String(error)).not.toContain(bench.played.token);
        }
        failOnce(200, {}, '<html>not JSON</html>');
        await expect(forge.repository()).rejects.toMatchObject({ code: 'unavailable' });
        failOnce(200, {}, { id: 'x', number: -1 });
        await expect(forge.issue(1)).rejects.toMatchObject({ code: 'unavailable' });
        expect((await forge.repository()).path).toBe('acme/api');
      });

      it('follows one redirect of a renamed repository, and none to another host', async () => {
        failOnce(301, { location: 'http://127.0.0.2:1/steal' });
        await expect(forge.repository()).rejects.toMatchObject({ code: 'forbidden' });
        const { api } = bench.played;
        bench.played.player.fail = { status: 301, headers: { location: `${api}/user` } };
        await expect(forge.repository()).rejects.toMatchObject({ code: 'rejected' });
      });
    });

    describe('hooks', () => {
      it('are made once, renewed and removed, and their secret stays inside', async () => {
        const { hooks } = bench.played;
        const url = 'http://belay.example.com/hooks/git/s1';
        const first = await forge.setHook({ id: null, url, secret: 'secret-one' });
        expect(hooks.hooks).toMatchObject([{ id: Number(first), url, secret: 'secret-one' }]);
        // The id was not noted.
        expect(await forge.setHook({ id: null, url, secret: 'secret-two' })).toBe(first);
        expect(hooks.hooks).toMatchObject([{ secret: 'secret-two' }]);
        await forge.removeHook(first);
        await forge.removeHook(first);
        expect(hooks.hooks).toEqual([]);
        const again = await forge.setHook({ id: first, url, secret: 'secret-three' });
        expect(hooks.hooks).toMatchObject([{ id: Number(again), secret: 'secret-three' }]);
        bench.played.player.fail = {
          status: 422,
          method: 'PATCH',
          body: { message: 'bad secret secret-four' },
        };
        if (kind === 'gitlab') bench.played.player.fail.method = 'PUT';
        const refused = forge.setHook({ id: again, url, secret: 'secret-four' });
        await expect(refused).rejects.toMatchObject({ code: 'rejected' });
        await expect(refused).rejects.not.toThrow(/secret-four/);
      });
    });

    describe('raw lists', () => {
      it('come with an ETag, the next page and a delay', async () => {
        const reader = bench.open();
        const list = 'issues';
        const query = { [kind === 'gitea' ? 'limit' : 'per_page']: 2, state: 'all' };
        for (let n = 0; n < 3; n++) issueBy('ada');
        const first = await reader.get(list, { query });
        expect(first).toMatchObject({ status: 200, pollAfterMs: null });
        expect(first.body).toHaveLength(2);
        expect(first.next).toMatch(/^issues\?.*page=2/);
        const second = await reader.get(first.next ?? '');
        expect(second.body).not.toEqual(first.body);
        const { limits } = bench.played.player;
        if (kind !== 'gitea') {
          limits.remaining = 100;
          limits.reset = Math.floor(Date.now() / 1000) + 1_000;
          const scarce = await reader.get(list, { query });
          expect(scarce.pollAfterMs).toBeGreaterThan(900_000);
          limits.remaining = 5_000;
        }
        if (first.etag !== null)
          expect(await reader.get(list, { query, etag: first.etag })).toMatchObject({
            status: 304,
            body: undefined,
          });
        expect(kind === 'github' ? first.etag : 'any').not.toBeNull();
        await expect(reader.get('../../user')).rejects.toMatchObject({ code: 'invalid_input' });
        await expect(reader.get('%2e%2e/x')).rejects.toMatchObject({ code: 'invalid_input' });
      });
    });
  });
}

for (const kind of kinds) describeForge(kind);
