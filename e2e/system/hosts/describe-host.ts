import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerSpec } from '@belay/containers';
import { until } from '@belay/testing';
import { pack } from 'tar-stream';
import { describePrograms } from './describe-programs.js';
import { asFirstProgram } from './first-program.js';
import type { Further, HostTests, TestedHost } from './host-tests.js';
import { HostUser, never, newId } from './host-user.js';

/** What every host of containers must do; the program in them is `FirstProgram`. What is not for `npm test` is `further`. */
export function describeHost(name: string, tested: () => TestedHost, further: Further = it): void {
  describe(name, () => {
    const owner = newId();
    const users: HostUser[] = [];
    const tests: HostTests = {
      owner,
      get user() {
        const [first] = users;
        if (!first) throw new Error('It is opened before all tests.');
        return first;
      },
      get images() {
        return tested().images;
      },
      async open(of = owner) {
        const opened = new HostUser(await tested().open(of));
        users.push(opened);
        return opened;
      },
      specOf: (more) => specWith({ image: tested().images.default, ...more }),
    };

    beforeAll(async () => (await tests.open()).follow());
    afterAll(async () => {
      for (const one of users) await one.close();
      await tested().dispose(owner);
    });

    describe('its containers', () => describeContainers(tests));
    describe('its files', () => describeFiles(tests, further));
    describe('files with a name of their own', () => describeKeptFiles(tests));
    describe('its programs of others', () => describePrograms(tests, further));
    describe('what goes wrong', () => describeEnds(tests));
    describe('its owners', () => describeOwners(tests));
  });
}

function specWith(more: Partial<ContainerSpec> & { image: string }): ContainerSpec {
  const id = newId();
  return {
    id,
    label: `host-${id}`,
    labels: { 'belay.session': `host-${id}` },
    rights: 'hardened',
    limits: { memoryMb: 256, cpus: 1 },
    env: asFirstProgram,
    files: id,
    folders: [],
    keptFiles: [],
    placedFiles: [],
    ...more,
  };
}

function describeContainers(tests: HostTests): void {
  it('can run containers, and says so', async () => {
    const checks = await tests.user.host.checks();
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.length).toBeGreaterThan(0);
  });

  it('starts a container once, whose program dials in, and removes it for good', async () => {
    const spec = tests.specOf({ limits: { memoryMb: 256, cpus: 10_000 } });
    const { id } = spec;
    await Promise.all([tests.user.host.start(spec, never), tests.user.host.start(spec, never)]);
    const program = await tests.user.program(id);
    await tests.user.host.start(spec, never);
    expect(await program.run('return process.env.BELAY_WORKSPACE')).toBe('/workspace');
    expect(await tests.user.host.look(id)).toEqual({
      state: 'running',
      why: null,
      cause: null,
    });
    await tests.user.host.rename(id, 'another label');
    expect(await program.run('return 1')).toBe(1);
    await tests.user.host.remove(id);
    await tests.user.host.remove(id);
    await until('its connection ends', () => program.isGone);
    await tests.user.sees(id, 'gone');
    expect(await tests.user.host.look(id)).toMatchObject({
      state: 'gone',
      why: expect.stringMatching(/removed/) as string,
    });
    await tests.user.host.removeFiles(id);
  });

  it('gives programs no more than the image, the files and what is asked for', async () => {
    const files = [{ path: '/etc/belay-policy', text: 'stay' }];
    const program = await tests.user.start(tests.specOf({ placedFiles: files }));
    expect(await program.run("return fs.readFileSync('/etc/belay-policy', 'utf8')")).toBe('stay');
    for (const path of ['/etc/belay-policy', '/opt/belay/start.cjs', '/usr/new', '/etc/new'])
      await expect(program.run(`fs.writeFileSync('${path}', 'x')`)).rejects.toThrow(
        /EROFS|EACCES|EPERM/,
      );
    // The honest write in the same place.
    for (const path of ['/workspace/new', '/var/lib/belay/new', '/tmp/new', '/run/new'])
      await program.run(`fs.writeFileSync('${path}', 'x')`);
    // Of the second version of control groups, or the first.
    const limit = ['memory.max', 'memory/memory.limit_in_bytes'].map(
      (file) => `/sys/fs/cgroup/${file}`,
    );
    const read = `return fs.readFileSync(${JSON.stringify(limit)}.find(fs.existsSync), 'utf8')`;
    expect(Number(await program.run(read)) / 2 ** 20).toBe(256);
  });

  it('knows images without running them', async () => {
    const { images } = tests.user.host;
    const { other } = tests.images;
    expect(await images.id(other)).toBe(await images.id(other));
    expect(await images.id(other)).toEqual(expect.any(String));
    expect(await images.id('belay/there-is-no-such-image:1')).toBeUndefined();
    expect(await images.id('not a name')).toBeUndefined();
    expect(await images.has('belay/there-is-no-such-image:1')).toBe(false);
    expect(await images.firstPath(other, ['/nowhere', '/bin/sh', '/etc'])).toBe('/bin/sh');
    expect(await images.firstPath(other, ['/nowhere'])).toBeUndefined();
  });
}

async function expectKeptFiles(tests: HostTests, image: 'default' | 'other'): Promise<void> {
  const spec = tests.specOf({ image: tests.images[image] });
  const { files } = spec;
  const first = await tests.user.start(spec);
  const places = ['/workspace/kept', '/var/lib/belay/kept'];
  for (const path of places) await first.run(`fs.writeFileSync('${path}', 'mine')`);
  expect(await first.run("return fs.statSync('/workspace').uid")).toBe(1000);
  await tests.user.host.remove(spec.id);
  expect(await tests.user.host.storedFiles()).toContain(files);
  const second = tests.specOf({ image: spec.image, files });
  const next = await tests.user.start(second);
  for (const path of places)
    expect(await next.run(`return fs.readFileSync('${path}', 'utf8')`)).toBe('mine');
  await tests.user.host.remove(second.id);
  await tests.user.host.removeFiles(files);
  await tests.user.host.removeFiles(files);
  expect(await tests.user.host.storedFiles()).not.toContain(files);
  const third = await tests.user.start(tests.specOf({ image: spec.image, files }));
  expect(await third.run("return fs.existsSync('/workspace/kept')")).toBe(false);
}

function describeFiles(tests: HostTests, further: Further): void {
  it('keeps the files of a container of its own image until they are removed', () =>
    expectKeptFiles(tests, 'default'));

  further('keeps the files of a container of any image until they are removed', () =>
    expectKeptFiles(tests, 'other'),
  );

  it('shares the folders that were checked, and none that was exchanged', async () => {
    const { host } = tests.user;
    if (!host.can.folders) return expect(host.closedPaths).toEqual([]);
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-host-')));
    try {
      mkdirSync(join(folder, 'shared'));
      writeFileSync(join(folder, 'shared/file'), 'of the host');
      const { dev: device, ino: inode } = statSync(join(folder, 'shared'), { bigint: true });
      const shared = { folder: join(folder, 'shared'), path: '/mnt/shared', readOnly: true };
      const program = await tests.user.start(
        tests.specOf({ folders: [{ ...shared, device, inode }] }),
      );
      expect(await program.run("return fs.readFileSync('/mnt/shared/file', 'utf8')")).toBe(
        'of the host',
      );
      await expect(program.run("fs.writeFileSync('/mnt/shared/file', '')")).rejects.toThrow(
        'EROFS',
      );
      const exchanged = tests.specOf({ folders: [{ ...shared, device, inode: inode + 1n }] });
      await expect(host.start(exchanged, never)).rejects.toMatchObject({ code: 'forbidden' });
      await host.remove(exchanged.id);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

function describeKeptFiles(tests: HostTests): void {
  it('shares files that are kept under a name of their own', async () => {
    const home = { name: `${tests.owner}-home`, path: '/var/lib/belay/login', readOnly: false };
    const first = await tests.user.start(tests.specOf({ keptFiles: [home] }));
    await first.run("fs.writeFileSync('/var/lib/belay/login/key', 'secret')");
    const keptFiles = [{ ...home, path: '/opt/kept', readOnly: true }];
    const second = await tests.user.start(tests.specOf({ keptFiles }));
    expect(await second.run("return fs.readFileSync('/opt/kept/key', 'utf8')")).toBe('secret');
    await expect(second.run("fs.writeFileSync('/opt/kept/key', 'x')")).rejects.toThrow('EROFS');
    expect(await tests.user.host.storedFiles()).not.toContain(home.name);
  });

  it('fills such files from a tar without running anything, and leaves nothing of a broken one', async () => {
    const { keptFiles } = tests.user.host;
    const [whole, broken] = [`${tests.owner}-whole`, `${tests.owner}-broken`];
    const archive = pack();
    archive.entry({ name: 'bin/tool', mode: 0o755 }, 'echo done');
    archive.finalize();
    await keptFiles.fill(whole, archive);
    const half = pack();
    half.entry({ name: 'bin/tool', mode: 0o755 }, 'echo done');
    half.on('error', () => {});
    const filling = keptFiles.fill(broken, half);
    half.destroy(new Error('The rest is missing.'));
    await expect(filling).rejects.toThrow('The rest is missing.');
    await keptFiles.keepOnly([whole]);
    const mount = { name: whole, path: '/opt/tools', readOnly: true };
    const spec = tests.specOf({ keptFiles: [mount] });
    const program = await tests.user.start(spec);
    const read = "return fs.readFileSync('/opt/tools/bin/tool', 'utf8')";
    expect(await program.run(read)).toBe('echo done');
    await tests.user.host.remove(spec.id);
    await keptFiles.remove(whole);
    await keptFiles.remove(whole);
  });
}

function describeEnds(tests: HostTests): void {
  it('tells why a container has ended, with its last line', async () => {
    const [exits, killed, swollen] = [tests.specOf(), tests.specOf(), tests.specOf()];
    const [one, two, three] = await Promise.all(
      [exits, killed, swollen].map((spec) => tests.user.start(spec)),
    );
    const ends = [
      one?.run("fs.writeSync(1, 'first\\nthe last words\\n'); process.exit(3)"),
      two?.run("process.kill(process.pid, 'SIGKILL')"),
      three?.run('const all = []; for (;;) all.push(Buffer.alloc(2 ** 24, 1))'),
    ];
    await Promise.all(ends.map((end) => expect(end).rejects.toThrow('The program is gone.')));
    for (const { id } of [exits, killed, swollen]) await tests.user.sees(id, 'ended');
    const why = async ({ id }: ContainerSpec) => (await tests.user.host.look(id)).why;
    expect(await why(exits)).toMatch(/exit code 3\. Its last line: the last words$/);
    expect(await why(killed)).toMatch(/was killed/);
    expect(await why(swollen)).toMatch(/ran out of its 256 MB of memory/);
    // What has ended stays until it is removed, and its files until they are.
    for (const { id } of [exits, killed, swollen]) await tests.user.host.remove(id);
    await tests.user.sees(exits.id, 'gone');
    expect(await tests.user.host.storedFiles()).toContain(exits.files);
  });

  it('starts nothing that was cancelled, or whose image is not there, and removes what is left', async () => {
    const cancelled = AbortSignal.abort(new Error('Not any more.'));
    const spec = tests.specOf();
    await expect(tests.user.host.start(spec, cancelled)).rejects.toThrow('Not any more.');
    const missing = tests.specOf({ image: 'belay/there-is-no-such-image:1' });
    await expect(tests.user.host.start(missing, never)).rejects.toThrow(missing.image);
    for (const { id, files } of [spec, missing]) {
      expect((await tests.user.host.look(id)).state).toBe('gone');
      await tests.user.host.remove(id);
      await tests.user.host.removeFiles(files);
      expect(await tests.user.host.storedFiles()).not.toContain(files);
    }
    // The same one, once it is wanted.
    await tests.user.start(spec);
  });
}

function describeOwners(tests: HostTests): void {
  it('lets the next process of an owner find and adopt its containers, and no other one', async () => {
    const before = await tests.open();
    const [running, ended] = [tests.specOf(), tests.specOf()];
    await before.start(running);
    const ends = await before.start(ended);
    await expect(ends.run('process.exit(1)')).rejects.toThrow('gone');
    await until('it has ended', async () => (await before.host.look(ended.id)).state === 'ended');
    await before.close();
    const next = await tests.open();
    await next.follow();
    expect([next.seen.get(running.id), next.seen.get(ended.id)]).toEqual(['running', 'ended']);
    expect(next.programs.size).toBe(0);
    await next.host.adopt(running.id);
    expect(await (await next.program(running.id)).run('return process.uptime() > 0')).toBe(true);
    const stranger = await tests.open(newId());
    await stranger.follow();
    expect([[...stranger.seen], await stranger.host.storedFiles()]).toEqual([[], []]);
    // Of an owner that knows its id and its files, too.
    expect((await stranger.host.look(running.id)).state).toBe('gone');
    await stranger.host.remove(running.id);
    await stranger.host.rename(running.id, 'mine');
    expect((await next.host.look(running.id)).state).toBe('running');
    for (const { id } of [running, ended]) {
      await next.host.remove(id);
      await next.sees(id, 'gone');
    }
  });
}
