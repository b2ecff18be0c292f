import { join } from 'node:path';
import {
  doubling,
  humanEvalData,
  mbppData,
  polyglotData,
  temporary,
  terminalBenchData,
  write,
} from '../testing/fixtures.js';
import { describeData } from './describe-data.js';

const { folder, remove } = temporary();
afterAll(remove);
const file = (name: string, text: string) => join(write(folder, { [name]: text }), name);

it.each([
  ['human-eval', humanEvalData],
  ['mbpp', mbppData],
  ['polyglot', polyglotData],
  ['terminal-bench', terminalBenchData],
])('finds the suite %s by its data', (suite, data) => {
  const path = data(join(folder, suite));
  expect(describeData(path)).toMatchObject({ suite, tasks: 1, problem: null });
});

it('finds the suite of a file with any name', () => {
  const path = file('mine.jsonl', `${JSON.stringify(doubling)}\n`);
  expect(describeData(path)).toMatchObject({ suite: 'human-eval', tasks: 1 });
});

it('says why the suite of the data cannot read them', () => {
  const line = `${JSON.stringify(doubling)}\n`;
  expect(describeData(file('twice.jsonl', line + line))).toMatchObject({
    suite: null,
    problem: expect.stringMatching(/The task "Own\/0" is in the data 2 times/),
  });
});

it.each([
  ['notes.txt', 'words'],
  ['numbers.jsonl', '1\n2\n'],
  ['words.json', 'words'],
])('describes %s as data of no suite', (name, text) => {
  expect(describeData(file(name, text))).toMatchObject({
    suite: null,
    tasks: 0,
    problem: expect.stringMatching(/neither a folder|No suite reads it/),
  });
});

it('names a path that does not exist', () => {
  expect(() => describeData(join(folder, 'none'))).toThrow(/none does not exist\.$/);
});
