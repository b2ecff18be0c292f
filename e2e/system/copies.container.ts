import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isEvent, resultOf, type Event } from '@belay/protocol';
import {
  containerOf,
  describeSystem,
  docker,
  Followed,
  prepared,
  run,
  script,
  start,
} from '@belay/testkit';
import { itLong, until } from '@belay/testing';
import { invite } from './joined-machine.js';
import { JoinProcess } from './join-process.js';

/** What has to come back: the repository as git sees it, and the files with their modes and links. */
const look = run(
  [
    'git fsck --strict --no-dangling --no-progress',
    'git log --all --format="%H %D %s"',
    'git stash list',
    'git status --porcelain',
    'find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum',
    'find . -path ./.git -prune -o ! -type d -printf "%y %m %l %p\\n" | sort',
  ].join(' && '),
);
const git = 'git -c user.name=t -c user.email=t@t';

/** What a session does before its sandbox is lost, and the end of its reflog then. */
const works: [command: string, reflog: string][] = [
  [
    `git init -q -b main && printf 'one\\r\\n' > a.txt && mkdir bin && printf x > bin/run && chmod 755 bin/run && ln -s bin/run link && echo dist > .gitignore && git add . && ${git} commit -qm One && echo two >> a.txt && git checkout -q -b work/deeper && ${git} commit -qam Two && mkdir dist && echo built > dist/out`,
    'commit: Two',
  ],
  [
    `echo three >> a.txt && ${git} stash -q && git gc -q && git tag v1 && git checkout -q main && echo four > b.txt`,
    'moving from work/deeper to main',
  ],
];

describeSystem('a sandbox that is gone with its files', (server) => {
  const isCommit = (event: Event) => isEvent(event, 'commit');
  const lastCommit = (session: Followed) =>
    String(session.events.findLast(isCommit)?.args['commit']);
  /** Waits until the server has a copy of the last step, and of a `.git` with this in a reflog. */
  const copied = (session: Followed, reflog = '') =>
    until('the copy of the last step', () => {
      const folder = join(server.data, 'copies', session.id);
      const all = existsSync(folder) ? readdirSync(folder).filter((name) => !isPart(name)) : [];
      const steps = all.filter((name) => name.includes('.steps.'));
      const hasStep = steps.some((name) => name.endsWith(lastCommit(session)));
      const archives = all.filter((name) => name.includes('.repository.'));
      const hasLog = archives.some((name) => readFileSync(join(folder, name)).includes(reflog));
      return hasStep && (hasLog || reflog === '');
    });
  /** Removes its container and its volumes, as if their machine had died. */
  const lose = async (session: Followed): Promise<void> => {
    const container = await containerOf(session.id);
    const { Mounts } = await container.inspect();
    await container.remove({ force: true });
    for (const { Type, Name, RW } of Mounts)
      if (Type === 'volume' && RW && Name) await docker.getVolume(Name).remove({ force: true });
  };
  const output = (event: Event) =>
    isEvent(event, 'result') ? (resultOf(event, 'terminal.run')?.text ?? '') : '';
  const hasLooked = (event: Event) => output(event).includes(' ./a.txt');
  /** What is ignored is in no copy. */
  const shown = (event: Event) =>
    output(event)
      .split(/\r?\n/)
      .filter((line) => !line.includes('dist/'));
  /** Still being written. */
  const isPart = (name: string) => name.endsWith('.part');
  const isRestored = (event: Event) => isEvent(event, 'restored');

  it('comes back from the server’s copies at any step: files, .git and history', async () => {
    const model = script(server.data, [
      ...works.flatMap(([work]) => [
        { calls: [run(work)] },
        { calls: [look] },
        { calls: [run('echo lost; sleep 300')] },
        { calls: [look] },
      ]),
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Work', model });
    const steps = async () =>
      (await server.client.sessions.call(session.id, 'workspace.log', { limit: 100 })).steps;
    let after = 0;
    for (const [, reflog] of works) {
      const before = await session.event(hasLooked, after);
      await session.event(({ action }) => action === 'terminal.run', before.seq);
      // On a busy machine, the step of a call is written while the next calls already run.
      await session.event(isCommit, after);
      await copied(session, reflog);
      const stepsBefore = await steps();
      const commit = lastCommit(session);
      await lose(session);
      const failed = await session.event(
        (event) => isEvent(event, 'state') && event.args.state === 'failed',
        before.seq,
      );
      await server.client.sessions.restart(session.id);
      const restored = await session.event(isRestored, failed.seq);
      expect(restored.args).toMatchObject({ commit, step: expect.any(Number) });
      expect(restored.message).toContain('node_modules');
      const now = await session.event(hasLooked, restored.seq);
      expect(shown(now)).toEqual(shown(before));
      expect(await steps()).toEqual(stepsBefore);
      after = now.seq;
    }
    await session.finished(after);
    session.close();
    await server.client.sessions.remove(session.id);
    expect(readdirSync(join(server.data, 'copies'))).toEqual([]);
  });

  itLong('of an ended session can be read and forked again', async () => {
    const model = script(server.data, [
      { calls: [{ operation: 'files.write', input: { path: 'a.txt', content: 'first\n' } }] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Write', model });
    await session.finished();
    const step = await session.event((event) => isCommit(event) && event.id !== undefined);
    await copied(session);
    await lose(session);
    const forked = await server.client.sessions.fork(session.id, { seq: step.seq });
    await session.event(isRestored);
    const other = new Followed(server, forked.id);
    await other.ended();
    const read = await server.client.sessions.call(forked.id, 'files.read', { path: 'a.txt' });
    expect(read.content).toBe('first\n');
    for (const one of [session, other]) one.close();
  });

  itLong('on a machine that died comes back on another one of its name', async () => {
    const joined = async (): Promise<JoinProcess> => {
      const { token } = await invite(server, 'box');
      const machine = new JoinProcess(mkdtempSync(join(server.data, 'machine-')));
      const image = prepared('BELAY_TEST_IMAGE');
      machine.start(server.url, '--token', token, '--container', '--image', image);
      await machine.says('Connected as box');
      return machine;
    };
    const first = await joined();
    const model = script(server.data, [
      {
        calls: [run(`git init -q && echo kept > kept.txt && git add . && ${git} commit -qm Kept`)],
      },
      { calls: [run('echo lost; sleep 300')] },
      { calls: [run('cat kept.txt && git log --format=%s')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Work', model, machine: 'box' });
    await session.printed('lost');
    await copied(session, 'commit (initial): Kept');
    const commit = lastCommit(session);
    await first.end('SIGKILL');
    await lose(session);
    await server.client.machines.remove('box');
    await session.ended();
    const second = await joined();
    try {
      await server.client.sessions.restart(session.id);
      expect((await session.event(isRestored)).args).toMatchObject({ commit });
      await session.finished();
      expect(session.events.map(output).join('\n')).toMatch(/kept\r?\nKept/);
      session.close();
      await server.client.sessions.remove(session.id);
    } finally {
      await second.end('SIGTERM');
    }
  });
});
