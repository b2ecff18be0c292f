import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AppError } from '@belay/protocol';
import { itLong } from '@belay/testing';
import { pack } from 'tar-stream';
import { RepositoryCopy } from './repository-copy.js';
import { CopyShelf } from './testing/copy-shelf.js';
import { historyBench, treeOf, type HistoryBench } from './testing/history-bench.js';

let shelf: CopyShelf;
let bench: HistoryBench;
const benches: HistoryBench[] = [];
const newBench = (): HistoryBench => {
  const made = historyBench({ copies: shelf });
  benches.push(made);
  return made;
};
beforeEach(() => {
  shelf = new CopyShelf();
  bench = newBench();
});
afterEach(() => {
  for (const one of benches.splice(0)) one.remove();
});

const put = (path: string, content: string | Buffer, into = bench) => {
  mkdirSync(dirname(join(into.workspace, path)), { recursive: true });
  writeFileSync(join(into.workspace, path), content);
};
const [name, email] = ['t', 't@t'];
const author = {
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: email,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
};
/** Runs these commands of git in the workspace, by one process of the test; returns what they print. */
const git = (commands: string[], into = bench) =>
  execFileSync('sh', ['-ec', commands.map((command) => `git ${command}`).join('\n')], {
    cwd: into.workspace,
    stdio: 'pipe',
    encoding: 'utf8',
    env: { ...process.env, ...author },
  });
let calls = 0;
const step = (into = bench) =>
  into.history.commit({ id: `call-${++calls}`, message: `Step ${calls}` });
const copy = async (into = bench) => {
  await step(into);
  await into.history.copies.flush();
};

/** A new sandbox with what the server has. */
async function restored(): Promise<HistoryBench> {
  const made = newBench();
  for (const [kind, part] of shelf.read()) await made.history.copies.restorePart(kind, part);
  await made.history.copies.checkOut();
  return made;
}

/** All that a user can see of the workspace’s own repository. */
const repository = (of: HistoryBench): string =>
  git(
    [
      'fsck --strict --no-dangling >/dev/null',
      "log --all --format='log %H %D %s'",
      "reflog --all --format='reflog %H %gs'",
      'status --porcelain',
      'stash list',
      'for-each-ref',
    ],
    of,
  );
const files = (of: HistoryBench) =>
  Object.fromEntries(
    Object.entries(treeOf(of.workspace)).filter(([path]) => !path.startsWith('.git/')),
  );
const log = async (of: HistoryBench) => (await of.call('workspace.log', { limit: 100 })).steps;

async function expectSame(found: HistoryBench): Promise<void> {
  expect(files(found)).toEqual(files(bench));
  expect(repository(found)).toEqual(repository(bench));
  expect(await log(found)).toEqual(await log(bench));
}

describe('copies of steps', () => {
  beforeEach(async () => {
    put('.gitignore', 'dist\n');
    put('a.txt', 'one\r\n');
    put('bin/run.sh', '#!/bin/sh\n');
    symlinkSync('nowhere', join(bench.workspace, 'link'));
    git(['init -q -b main', 'add .', 'commit -qm Theirs']);
    await bench.history.begin();
    await bench.history.copies.flush();
  });

  it('bring back files, steps and .git, whatever was done to them in between', async () => {
    const works: (() => void)[] = [
      () => put('a.txt', 'two\n'),
      () => git(['commit -qam Two']),
      () => git(['checkout -q -b work']),
      () => put('d/e', 'x'.repeat(50_000)),
      () => git(['add .', 'commit -qm Work', 'branch -q -m work work/deeper']),
      () => {
        put('a.txt', 'stashed\n');
        git(['stash -q']);
      },
      () => git(['gc -q']),
      () => {
        git(['branch -q -m work/deeper work', 'tag v1']);
        rmSync(join(bench.workspace, 'bin'), { recursive: true });
      },
      () => git(['checkout -q -f main']),
      () => git(['branch -q -D work', 'config core.pager cat', 'pack-refs --all']),
    ];
    for (const [index, work] of works.entries()) {
      work();
      await copy();
      // Every state would take long.
      if (index % 3 === 0) await expectSame(await restored());
    }
    expect(shelf.shown.filter((part) => part.endsWith('*'))).toEqual(['repository 1*', 'steps 2*']);
  });

  it('never have steps without the `.git` beside them', async () => {
    shelf = new CopyShelf();
    bench = newBench();
    put('a.txt', 'one\n');
    git(['init -q']);
    const failing = shelf.open.bind(shelf);
    shelf.open = async (part) => {
      if (part.kind === 'repository') throw new AppError('unavailable', 'The sandbox is lost.');
      return failing(part);
    };
    await expect(copy()).rejects.toThrow('The sandbox is lost.');
    expect(shelf.shown).toEqual([]);
  });

  it('send what is new: nothing for nothing, little for little', async () => {
    put('large.txt', Array.from({ length: 20_000 }, (_, n) => `line ${n * n}\n`).join(''));
    git(['add .', 'commit -qm Large']);
    await copy();
    const [before, count] = [shelf.bytes, shelf.parts.length];
    await copy();
    expect(shelf.parts).toHaveLength(count);
    put(
      'large.txt',
      Array.from({ length: 20_000 }, (_, n) => `line ${n * n + (n === 9 ? 1 : 0)}\n`).join(''),
    );
    await copy();
    expect(shelf.shown.slice(count)).toEqual([`steps ${count + 1}`]);
    expect(shelf.bytes - before).toBeLessThan(2_000);
    git(["commit -qam 'One line'"]);
    await copy();
    await expectSame(await restored());
  });

  it('go on after a restart of the agent, and in the sandbox that they were restored to', async () => {
    await bench.history.copies.close();
    const again = bench.another();
    put('a.txt', 'again\n');
    git(['commit -qam Again']);
    await again.begin();
    await again.copies.flush();
    expect(shelf.shown).toEqual(['repository 1*', 'steps 2*', 'steps 3', 'repository 4']);
    const next = await restored();
    put('b.txt', 'next\n', next);
    git(['add .', 'commit -qm Next'], next);
    await next.history.begin();
    await next.history.copies.flush();
    expect(shelf.shown.slice(4)).toEqual(['steps 5', 'repository 6']);
    bench = next;
    await expectSame(await restored());
  });

  itLong('made while a program commits have no reference without its objects', async () => {
    put('a.txt', 'meanwhile\n');
    const open = shelf.open.bind(shelf);
    // The files have been listed, and none of them was read.
    shelf.open = async (part) => {
      if (part.kind === 'repository') git(['commit -qam Meanwhile --allow-empty']);
      return open(part);
    };
    git(['commit -qam First']);
    await copy();
    const found = await restored();
    expect(git(['fsck --strict >/dev/null', 'log -1 --format=%s'], found)).toBe('Meanwhile\n');
    shelf.open = open;
    await copy();
    await expectSame(await restored());
  });

  itLong('say which files they lack', async () => {
    put('huge.bin', Buffer.alloc(50_000_001));
    await copy();
    const made = newBench();
    for (const [kind, part] of shelf.read()) await made.history.copies.restorePart(kind, part);
    expect((await made.history.copies.checkOut()).without).toEqual(['huge.bin']);
  });

  it('are asked for again after a failure, and whole where nothing else fits', async () => {
    put('a.txt', 'lost on the way\n');
    shelf.failure = new AppError('unavailable', 'The connection broke.');
    await expect(copy()).rejects.toMatchObject({ code: 'unavailable' });
    await bench.history.copies.flush();
    await expectSame(await restored());
    // As from a server that has an older copy.
    shelf.parts.splice(2);
    put('a.txt', 'later\n');
    await expect(copy()).rejects.toMatchObject({ code: 'conflict' });
    await copy();
    await expectSame(await restored());
  });

  itLong(
    'replace the older ones beyond the limit, then leave out old steps, then stop with a note',
    async () => {
      const noise = (bytes: number) =>
        Buffer.from(Array.from({ length: bytes }, () => Math.floor(Math.random() * 256)));
      for (let n = 0; n < 3; n++) {
        put('noise.bin', noise(100_000));
        await copy();
      }
      shelf.maxBytes = shelf.bytes + 50_000;
      put('noise.bin', noise(100_000));
      await copy();
      expect(shelf.shown.filter((part) => part.startsWith('steps'))).toEqual([
        expect.stringMatching(/\*$/),
      ]);
      const found = await restored();
      expect(files(found)).toEqual(files(bench));
      expect(await log(found)).toEqual((await log(bench)).slice(0, 1));
      put('noise.bin', noise(600_000));
      await expect(copy()).rejects.toMatchObject({ code: 'too_large' });
      expect(bench.commits().at(-1)?.message).toContain('Copies of the files end here');
      expect(files(await restored())['noise.bin']).toHaveLength(100_000);
    },
  );

  it('are not made for a server that does not want them, nor of an empty folder', async () => {
    shelf = new CopyShelf();
    shelf.wanted = false;
    const off = newBench();
    put('a.txt', 'a\n', off);
    await off.history.begin();
    await off.history.copies.flush();
    shelf.wanted = true;
    const empty = newBench();
    await empty.history.begin();
    await empty.history.copies.flush();
    expect(shelf.parts).toEqual([]);
  });
});

describe('attacks: a part of a copy', () => {
  const head = (more: object) => {
    const json = Buffer.from(JSON.stringify({ commit: 'a'.repeat(40), ...more }));
    const size = Buffer.alloc(4);
    size.writeUInt32BE(json.length);
    return Buffer.concat([size, json]);
  };
  const tar = async (...entries: Parameters<ReturnType<typeof pack>['entry']>[]) => {
    const archive = pack();
    for (const entry of entries) archive.entry(...entry);
    archive.finalize();
    return buffer(archive);
  };
  const restore = (kind: 'steps' | 'repository', ...bytes: Buffer[]) =>
    bench.history.copies.restorePart(kind, Readable.from(bytes));

  it('deletes and writes nothing outside of .git and the workspace', async () => {
    put('kept.txt', 'kept');
    writeFileSync(join(bench.elsewhere, 'kept.txt'), 'kept');
    const removed = [
      'kept.txt',
      '.git/../kept.txt',
      '../elsewhere/kept.txt',
      '.gitx',
      '/etc/hosts',
    ];
    put('.gitx', 'kept');
    await restore('repository', head({ removed }), await tar([{ name: '.git/HEAD' }, 'x']));
    await expect(
      restore('repository', head({}), await tar([{ name: '../elsewhere/kept.txt' }, 'y'])),
    ).rejects.toMatchObject({ code: 'forbidden' });
    expect(treeOf(bench.workspace)).toEqual({
      '.git/HEAD': 'x',
      '.gitx': 'kept',
      'kept.txt': 'kept',
    });
    expect(treeOf(bench.elsewhere)).toEqual({ 'kept.txt': 'kept' });
  });

  it('of a .git with endless files takes no endless memory', async () => {
    for (let n = 0; n < 12; n++) put(`.git/refs/heads/b${n}`, 'x');
    const memory = join(bench.state, 'memory');
    const limited = new RepositoryCopy(bench.workspace, memory, 10);
    await expect(limited.changes(0)).rejects.toMatchObject({ code: 'too_large' });
    const enough = new RepositoryCopy(bench.workspace, memory, 20);
    expect(await enough.changes(0)).toMatchObject({ whole: true });
  });

  it('that is cut, endless or no pack is refused, and the parts before it count', async () => {
    put('a.txt', 'a\n');
    await copy();
    const found = newBench();
    for (const [kind, part] of shelf.read()) await found.history.copies.restorePart(kind, part);
    bench = found;
    const long = Buffer.alloc(4, 255);
    for (const broken of [Buffer.alloc(0), Buffer.alloc(3), long, Buffer.from('\0\0\0\x02{]')])
      await expect(restore('steps', broken)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(restore('steps', head({}), Buffer.from('PACK'))).rejects.toThrow(/index-pack/);
    await found.history.copies.checkOut();
    expect(readdirSync(found.workspace)).toEqual(['a.txt']);
  });

  it('whose step is missing, fails the restart and not the agent', async () => {
    put('a.txt', 'a\n');
    await copy();
    const [first] = shelf.parts;
    const size = first!.bytes.readUInt32BE();
    bench = newBench();
    await restore('steps', head({ base: 'b'.repeat(40) }), first!.bytes.subarray(4 + size));
    await expect(bench.history.copies.checkOut()).rejects.toMatchObject({ code: 'internal' });
  });
});
