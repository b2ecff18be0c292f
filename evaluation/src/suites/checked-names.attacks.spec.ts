import { join } from 'node:path';
import { doubling, harborData, temporary, write } from '../testing/fixtures.js';
import { suiteNamed } from './index.js';

const { folder, remove } = temporary();
afterAll(remove);

let made = 0;
const problemsNamed = (...ids: string[]) => {
  const lines = ids.map((id) => `${JSON.stringify({ ...doubling, task_id: id })}\n`).join('');
  const data = write(join(folder, String(++made)), { 'problems.jsonl': lines });
  return suiteNamed('human-eval').read(join(data, 'problems.jsonl'));
};

describe('attacks: names of tasks', () => {
  it.each([
    '../../../home/user/.ssh/authorized_keys',
    '/etc/cron.d/evil',
    '..',
    'a/../../b',
    'a//b',
    'a/',
    '',
    'a\0b',
    'a\nb',
    'C:\\evil',
    'x'.repeat(300),
  ])('%j is refused in one sentence', (id) => {
    expect(() => problemsNamed('Own/0', id)).toThrow(/^The task ".*" is not run: [^\n]*\.$/);
  });

  it('two tasks never share a folder', () => {
    expect(() => problemsNamed('a/b', 'a__b')).toThrow('would share the folder a__b');
    expect(() => problemsNamed('a', 'b', 'a')).toThrow(
      /^The task "a" is in the data 2 times: \S+, line 1; and \S+, line 3\. Keep one/,
    );
  });

  it('names of existing data are accepted', () => {
    const names = ['HumanEval/0', 'own__twice-1', 'javascript/two-fer', 'a.b+c@d', '..a'];
    expect(problemsNamed(...names).map(({ id }) => id)).toEqual(names);
  });

  it('names of steps are checked as well', () => {
    const data = harborData(join(folder, 'steps'));
    const named = (name: string) => {
      write(data, { 'answer/task.toml': `[[steps]]\nname = ${JSON.stringify(name)}\n` });
      return suiteNamed('harbor').read(data)[0]?.steps[0]?.name;
    };
    for (const name of ['../../../evil', '/evil', 'a/b', '..'])
      expect(() => named(name)).toThrow(/its step .* is not a name/);
    expect(named('first step')).toBe('first step');
  });

  it('a packed folder cannot have a file outside of it', () => {
    const packed = (path: string) => {
      const files = { 'task.toml': '', 'environment/Dockerfile': 'FROM debian:12\n', [path]: 'x' };
      const data = write(join(folder, 'packed'), {
        'tasks.jsonl': JSON.stringify({ task: 'a', files }),
      });
      return suiteNamed('harbor').read(data);
    };
    for (const path of ['../../evil', '/etc/evil', 'tests/../../evil', '..'])
      expect(() => packed(path)).toThrow('is outside its folder');
    expect(packed('tests/..data/x')).toHaveLength(1);
  });
});
