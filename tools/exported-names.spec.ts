import { root } from './product-node.mjs';
import { misnamedFiles, sharedNames, sourcesIn } from './exported-names.ts';

/** The names that two files share. */
const shared = (one: string, other: string, [a, b] = ['a.ts', 'b.ts']) =>
  sharedNames(
    new Map([
      [a, one],
      [b, other],
    ]),
  );

const sources = sourcesIn(root);

describe('an exported name', () => {
  it('means one thing in the whole repository', () => {
    expect(sharedNames(sources)).toEqual([]);
  });

  it.each([
    'export const read = 1;',
    'export function read(): void {}',
    'export async function* read() {}',
    'export abstract class read {}',
    'export interface read {}',
    'export type read = string;',
    'export const { write, read } = both();',
    'export const { other: read = 1 } = both();',
  ])('is found in “%s”', (line) => {
    expect(shared('export const read = 1;', `//\n${line}`)).toEqual(['read: a.ts, b.ts']);
  });

  it.each([
    "export { read } from './a.js';",
    "export * from './a.js';",
    'const read = 1;',
    'function write() {\n  const read = 1;\n}',
    '// export const read = 1;',
    'export const reader = 1;',
    'export { read };',
  ])('is not shared by “%s”', (line) => {
    expect(shared('export const read = 1;', line)).toEqual([]);
  });

  it('may be that of a variant, but of nothing else', () => {
    const line = 'export const title = 1;';
    const [one, other] = ['tools/bench/01-warm-start.ts', 'tools/bench/02-cold-start.ts'];
    expect(shared(line, line, [one, other])).toEqual([]);
    expect(shared(line, line, [one, 'tools/load.ts'])).toEqual([`title: ${one}, tools/load.ts`]);
  });
});

describe('a file', () => {
  it('is named after what it exports', () => {
    expect(misnamedFiles(sources)).toEqual([]);
  });

  it.each([
    ['run-trial.ts', 'export async function runTrial() {}'],
    ['trial.ts', 'export const runTrial = 1;\nexport interface Options {}'],
    ['access-tokens.store.ts', 'export class AccessTokens {}'],
    ['0002-evaluations.ts', 'export const evaluations = 1;'],
    ['open-oauth.ts', 'export const openOAuth = 1;'],
    ['policies.ts', 'export const policy = 1;'],
    [
      'container-settings.ts',
      'export interface ContainerSettings {}\nexport function prepare() {}',
    ],
    ['gestures.ts', 'export const click = 1;\nexport const drag = 1;'],
    ['only-types.ts', 'export type Wanted = 1;'],
    ['index.ts', "export * from './other.js';"],
  ])('%s may contain “%s”', (path, text) => {
    expect(misnamedFiles(new Map([[path, text]]))).toEqual([]);
  });

  it.each([
    ['logging.ts', 'export class ServerLogger {}', 'ServerLogger'],
    ['run-trial.ts', 'export const runTask = 1;\nexport type Task = 1;', 'runTask, Task'],
  ])('%s may not contain “%s”', (path, text, names) => {
    expect(misnamedFiles(new Map([[path, text]]))).toEqual([`${path}: ${names}`]);
  });
});
