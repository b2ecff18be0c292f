import { execFileSync } from 'node:child_process';
import { DockerTasks } from '@belay/containers';
import { fileEntry } from '../entries.js';
import { temporary, write } from '../testing/fixtures.js';
import { Images, matchesImage } from './images.js';
import { commitOf, mirrorOf } from './mirror.js';
import { createTask } from './task-files.js';

const engine = new DockerTasks();
const { folder, remove } = temporary();
const busybox = process.env.BELAY_TEST_BUSYBOX ?? '';
const images = new Images({ engine, sandbox: null, fromMap: [['hub.example/*', busybox]] });
const signal = AbortSignal.timeout(120_000);
const built: string[] = [];
afterAll(async () => {
  remove();
  for (const name of built) await engine.forget(name);
});

async function build(...lines: string[]) {
  const dockerfile = fileEntry('Dockerfile', lines.join('\n'));
  const image = await images.ensure(
    { kind: 'build', files: [dockerfile, fileEntry('a.sh', `echo ${folder}\n`)] },
    signal,
  );
  built.push(image.name);
  return image;
}

async function output(image: string, ...command: string[]): Promise<string> {
  const container = await createTask(engine, {
    run: 'images-spec',
    image,
    command,
    user: 'root',
    workdir: '/',
    env: {},
    files: [],
    cpus: 1,
    memoryMb: 128,
    network: 'none',
  });
  try {
    await container.run(30, signal);
    return await container.output();
  } finally {
    await container.remove();
  }
}

it('matches patterns of images', () => {
  expect(matchesImage('*/t-bench/*', 'ghcr.io/org/t-bench/python-3-13:2025')).toBe(true);
  expect(matchesImage('ubuntu:*', 'my/ubuntu:24.04')).toBe(false);
});

it('BuildKit builds Dockerfiles that need it, from local images', async () => {
  const { name } = await build(
    '# syntax=docker/dockerfile:1',
    'FROM hub.example/base:1',
    'RUN --mount=type=tmpfs,target=/t echo made > /made',
    'COPY --chmod=741 a.sh /a.sh',
  );
  expect(await output(name, 'sh', '-c', 'cat /made; stat -c %a /a.sh')).toBe('made\n741\n');
});

it.each([[''], ['RUN --mount=type=tmpfs,target=/t true']])(
  'a failed build reports its log, with “%s”',
  async (line) => {
    const failing = build('FROM hub.example/base:1', line, 'RUN echo so it is; false');
    await expect(failing).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/so it is/),
    });
  },
);

it('a commit of a local clone keeps its id, without history and later commits', async () => {
  const clone = write(`${folder}/repos/own__thing`, { a: 'one' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', clone, '-c', 'user.name=a', '-c', 'user.email=a@a', ...args]);
  git('init', '-q');
  const commits = ['one', 'two', 'three'].map((text) => {
    write(clone, { a: text });
    git('add', '-A');
    git('commit', '-q', '-m', text);
    return git('rev-parse', 'HEAD').toString().trim();
  });
  expect(mirrorOf(`${folder}/repos`, 'own/thing')).toBe(clone);
  expect(mirrorOf(`${folder}/repos`, 'own/other')).toBeUndefined();
  const entries = await commitOf(clone, commits[1]!, signal);
  const copy = `${folder}/copy`;
  for (const { path, bytes } of entries) write(copy, { [path]: bytes });
  const log = execFileSync('git', ['-C', copy, 'log', '--all', '--format=%H']).toString().trim();
  expect(log).toBe(commits[1]);
  expect(() => execFileSync('git', ['-C', copy, 'cat-file', '-e', commits[2]!])).toThrow();
  await expect(commitOf(clone, '0'.repeat(40), signal)).rejects.toMatchObject({
    code: 'invalid_input',
  });
});
