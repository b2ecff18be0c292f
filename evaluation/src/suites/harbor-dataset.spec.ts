import { join } from 'node:path';
import { temporary, write } from '../testing/fixtures.js';
import { fileEntry } from '../entries.js';
import { packageDigest } from './harbor-package.js';
import { suiteNamed } from './index.js';

const { folder, remove } = temporary();
afterAll(remove);
let made = 0;
const mirror = () => join(folder, `mirror-${++made}`);

const filesOf = (answer: string) => ({
  'task.toml': `schema_version = "1.3"\n[task]\nname = "own/${answer}"\nversion = "2"\n`,
  'instruction.md': `Write ${answer}.\n`,
  'environment/Dockerfile': 'FROM ubuntu:24.04\n',
  'tests/test.sh': 'echo 1 > /logs/verifier/reward.txt\n',
});
const digestOf = (answer: string) =>
  packageDigest(Object.entries(filesOf(answer)).map(([path, text]) => fileEntry(path, text)));
const hexOf = (answer: string) => digestOf(answer).slice('sha256:'.length);
const manifest = (...names: [name: string, digest: string][]) =>
  `[dataset]\nname = "own/set"\n${names.map(([name, digest]) => `[[tasks]]\nname = "${name}"\ndigest = "${digest}"\n`).join('')}`;
const read = (path: string, note?: (sentence: string) => void) =>
  suiteNamed('harbor').read(path, note);

it('a dataset.toml stands for the tasks that it names, by their content', () => {
  const root = mirror();
  write(join(root, 'own/one', hexOf('one')), filesOf('one'));
  write(join(root, 'own/one', hexOf('other')), filesOf('other'));
  write(join(root, 'two'), filesOf('two'));
  write(root, {
    'dataset.toml': manifest(
      ['own/one', digestOf('one')],
      ['own/one', digestOf('one')],
      ['own/two', digestOf('two')],
    ),
  });
  const tasks = read(join(root, 'dataset.toml'));
  expect(
    tasks.map(({ id, unsupported, steps }) => [id, unsupported, steps[0]?.instruction]),
  ).toEqual([
    ['own/one', null, 'Write one.\n'],
    ['own/two', null, 'Write two.\n'],
  ]);
  expect(tasks[0]?.package).toMatchObject({
    name: 'own/one',
    version: '2',
    digest: digestOf('one'),
    folder: join(root, 'own/one', hexOf('one')),
  });
});

it('a task that is missing or has other content affects only itself', () => {
  const root = mirror();
  write(join(root, 'one'), filesOf('one'));
  write(join(root, 'two'), filesOf('other'));
  write(root, {
    'dataset.toml': manifest(
      ['own/one', digestOf('one')],
      ['own/two', digestOf('two')],
      ['own/three', digestOf('three')],
    ),
  });
  const [one, two, three] = read(join(root, 'dataset.toml'));
  expect(one).toMatchObject({ id: 'own/one', unsupported: null });
  expect(two).toMatchObject({ id: 'own/two', broken: true });
  expect(two?.unsupported).toContain(
    `have the digest ${digestOf('other')}, not ${digestOf('two')}`,
  );
  expect(three?.unsupported).toContain('there is no folder own/three with the digest');
});

it('a package in a mirror is named as ORG/NAME, with a digest if it has several versions', () => {
  const root = mirror();
  const versions = join(root, 'own/one');
  write(join(versions, hexOf('one')), filesOf('one'));
  const set = `${'0'.repeat(63)}1`;
  write(join(root, 'own/set', set), { 'dataset.toml': manifest(['own/one', digestOf('one')]) });
  const ids = (path: string) => read(path).map(({ id }) => id);
  expect(ids(join(root, 'own/set'))).toEqual(['own/one']);
  expect(ids(join(root, 'own/set@latest'))).toEqual(['own/one']);
  expect(ids(join(root, `own/set@sha256:${set}`))).toEqual(['own/one']);
  expect(read(versions)[0]?.steps[0]?.instruction).toBe('Write one.\n');
  write(join(versions, hexOf('other')), filesOf('other'));
  expect(() => read(versions)).toThrow(`Name one of its versions as ${versions}@sha256:DIGEST`);
  expect(() => read(`${versions}@3`)).toThrow(/known only to a registry/);
  const other = read(`${versions}@${digestOf('other').slice(0, 20)}`);
  expect(other[0]?.steps[0]?.instruction).toBe('Write other.\n');
});

it('a folder of tasks is what it contains, whatever its dataset.toml says', () => {
  const root = mirror();
  write(join(root, 'one'), filesOf('one'));
  write(root, { 'dataset.toml': manifest(['own/gone', digestOf('gone')]) });
  expect(read(root).map(({ id }) => id)).toEqual(['one']);
});

it('a dataset.toml that cannot be used is refused in one sentence', () => {
  const root = mirror();
  const file = join(root, 'dataset.toml');
  write(root, { 'dataset.toml': manifest(['own/../one', 'sha256:0']) });
  expect(() => read(file)).toThrow(/dataset.toml, cannot be read: tasks.0.name: must be ORG\/NAME/);
  write(root, { 'dataset.toml': '[dataset\n' });
  expect(() => read(file)).toThrow(`${file}: `);
  write(root, { 'dataset.toml': manifest() });
  expect(() => read(file)).toThrow(`${file} contains no tasks`);
});

it('says that a dataset’s own metric is not run', () => {
  const root = mirror();
  write(join(root, 'one'), filesOf('one'));
  write(root, {
    'dataset.toml': `${manifest(['own/one', digestOf('one')])}[[files]]\npath = "metric.py"\n`,
  });
  const notes: string[] = [];
  read(join(root, 'dataset.toml'), (sentence) => notes.push(sentence));
  expect(notes).toEqual([expect.stringContaining('metric.py')]);
});
