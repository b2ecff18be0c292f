import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEvent, resultOf, type Event } from '@belay/protocol';
import { describeSystem, Followed, run, script, start } from '@belay/testkit';

const write = (path: string, content: string) => ({
  operation: 'files.write',
  input: { path, content },
});
/**
 * A commit of changes by an operation, as opposed to the first commit, which records the initial
 * workspace.
 */
const isChange = (event: Event) => isEvent(event, 'commit') && event.args.parent !== null;
const commitOf = (event: Event) => (isChange(event) ? String(event.args.commit) : undefined);

describeSystem('the history', (server) => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-history-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const unpacked = (name: string, bytes: Uint8Array, ...command: string[]) => {
    writeFileSync(join(folder, name), bytes);
    return execFileSync(command[0] ?? '', command.slice(1), { cwd: folder, encoding: 'utf8' });
  };

  it('keeps a commit for each operation that changed files; each can be viewed, diffed and exported', async () => {
    const model = script(server.data, [
      { calls: [write('a.txt', 'one\n'), { operation: 'files.list', input: {} }] },
      { calls: [run("printf 'two\\n' >> a.txt; printf '\\000\\001' > b.bin")] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Write', model });
    await session.ended();
    const commits = session.events.map(commitOf).filter((commit) => commit !== undefined);
    expect(commits).toHaveLength(2);
    const { sessions } = server.client;
    const shown = await sessions.call(session.id, 'workspace.show', {
      commit: commits[0]!,
      path: 'a.txt',
    });
    expect(shown).toMatchObject({ content: 'one\n' });
    const diff = await sessions.call(session.id, 'workspace.diff', {
      from: commits[0],
      to: commits[1],
    });
    expect(diff).toMatchObject({
      diff: expect.stringContaining('+two'),
      files: expect.arrayContaining([
        expect.objectContaining({ path: 'a.txt', added: 1, removed: 0 }),
        expect.objectContaining({ path: 'b.bin', binary: true }),
      ]),
    });
    const bundle = await sessions.export(session.id, { format: 'bundle' });
    expect(unpacked('h.bundle', bundle, 'git', 'bundle', 'list-heads', 'h.bundle')).toContain(
      'HEAD',
    );
    const zip = await sessions.export(session.id, { format: 'zip' });
    expect(unpacked('h.zip', zip, 'python3', '-m', 'zipfile', '-l', 'h.zip')).toContain('a.txt');
    const tar = await sessions.export(session.id, { format: 'tar' });
    expect(unpacked('h.tar', tar, 'tar', 'tf', 'h.tar')).toContain('a.txt');
    session.close();
  });

  it('rewinds files and conversation after a preview, and the agent continues from there', async () => {
    const model = script(server.data, [
      { calls: [write('a.txt', 'first\n')] },
      { calls: [write('a.txt', 'second\n'), write('new.txt', 'x')] },
      { calls: [{ operation: 'ask', input: { question: 'Good?' } }] },
    ]);
    const session = await start(server, { task: 'Write', model });
    const asked = await session.state('waiting');
    const first = session.events.find(isChange);
    const { sessions } = server.client;
    const preview = await sessions.rewind(session.id, {
      seq: first!.seq,
      what: 'files',
      preview: true,
    });
    expect(preview.files.map((file) => file.path).toSorted()).toEqual(['a.txt', 'new.txt']);
    const read = () => sessions.call(session.id, 'files.read', { path: 'a.txt' });
    expect((await read()).content).toBe('second\n');
    await sessions.rewind(session.id, { seq: first!.seq, what: 'both' });
    await session.event((event) => event.action === 'rewind', asked.seq);
    expect((await read()).content).toBe('first\n');
    await expect(
      sessions.call(session.id, 'files.read', { path: 'new.txt' }),
    ).rejects.toMatchObject({ code: 'not_found' });
    await sessions.stop(session.id);
    session.close();
  });

  it('forks at any step into a sandbox of its own', async () => {
    const model = script(server.data, [
      { calls: [write('a.txt', 'first\n')] },
      { calls: [write('a.txt', 'second\n')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Write', model });
    await session.ended();
    const first = session.events.find(isChange);
    const forked = await server.client.sessions.fork(session.id, { seq: first!.seq });
    expect(forked).toMatchObject({ forkedFrom: { session: session.id, seq: first!.seq } });
    const other = new Followed(server, forked.id);
    await other.ended();
    // It continued with the script’s second turn and the files of the first.
    const patch = Buffer.from(await server.client.sessions.patch(forked.id)).toString();
    expect(patch).toContain('+second');
    expect(other.events.filter((event) => event.action === 'files.write')).toHaveLength(2);
    session.close();
    other.close();
  });

  it('leaves the workspace’s own repository untouched', async () => {
    const project = join(folder, 'project');
    mkdirSync(project);
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', project, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        encoding: 'utf8',
      });
    git('init', '-q', '-b', 'main');
    writeFileSync(join(project, 'a.txt'), 'a\n');
    git('add', '.');
    git('commit', '-qm', 'theirs');
    execFileSync('tar', ['cf', join(folder, 'project.tar'), '-C', project, '.']);
    const { workspace } = await server.client.uploads.workspace(
      readFileSync(join(folder, 'project.tar')),
    );
    const model = script(server.data, [
      {
        calls: [
          run(
            'git log --format=%s; git status --porcelain; echo b > b.txt; git status --porcelain',
          ),
        ],
      },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Look', model, workspace });
    await session.ended();
    const said = session.events.find((event) => isEvent(event, 'result'));
    const lines = (said && resultOf(said, 'terminal.run'))?.text.trim().split(/\r?\n/);
    expect(lines).toEqual(['theirs', '?? b.txt']);
    session.close();
  });
});
