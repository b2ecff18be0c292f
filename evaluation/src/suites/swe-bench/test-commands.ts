import { shellWord } from '@belay/protocol';
import { posix } from 'node:path';

/** Makes commands for a shell from paths as they are in the patch. */
type TestCommands = (files: string[], version: string) => string[];

/** A command for each test file, sorted and without duplicates. */
const each =
  (command: (file: string, version: string) => string | null): TestCommands =>
  (files, version) =>
    [...new Set(files.flatMap((file) => command(file, version) ?? []))].toSorted();

const beforeSnapshots = (file: string) => file.split('__snapshots__')[0] ?? file;

const django: TestCommands = (files, version) => {
  const settings = version === '1.9' ? '' : ' --settings=test_sqlite --parallel 1';
  const modules = files.map((file) =>
    file
      .replace(/\.py$/, '')
      .replace(/^tests\//, '')
      .replaceAll('/', '.'),
  );
  return [[`./tests/runtests.py --verbosity 2${settings}`, ...modules.map(shellWord)].join(' ')];
};

const mocha = './node_modules/.bin/mocha';
const prismTests = each((file) => {
  if (file.startsWith('tests/languages'))
    return `${mocha} tests/run.js --reporter json --language ${shellWord(file.split('/')[2] ?? '')}`;
  return file === 'tests/core/greedy.js' ? `${mocha} tests/core/**/*.js --reporter json` : null;
});
const prism: TestCommands = (files, version) => {
  const found = prismTests(files, version);
  return found.length > 0 ? found : [`${mocha} tests/run.js --reporter json`];
};

const scratch = each(
  (file) =>
    `./node_modules/.bin/jest --runInBand --no-colors --forceExit --testPathIgnorePatterns='test/integration' --testPathIgnorePatterns='vm-manager-hoc' ${shellWord(beforeSnapshots(file))}`,
);

/** Only files that Jest collects; a snapshot is checked by the test beside it. */
const calypso = each((given) => {
  const file = given.replace('__snapshots__/', '').replace(/\.snap$/, '');
  return /\/test\/[^/]+\.jsx?$/.test(file)
    ? `CFG=test/client/jest.config.json; [ -f $CFG ] || CFG=test/client/jest.config.js; ./node_modules/.bin/jest --verbose -c=$CFG ${shellWord(file)}`
    : null;
});

const lighthouse = each((given, version) => {
  if (/\.(html|json|md|txt)$/.test(given) || given.includes('smokehouse')) return null;
  const short = beforeSnapshots(given).replace(/\/$/, '');
  const file = /(?<!-test)\.js$/.test(short) ? posix.dirname(short) : short;
  const [top = ''] = file.split('/');
  const word = shellWord(file);
  const [, part] = /^(?:lighthouse-)?(report|cli|treemap|viewer)$/.exec(top) ?? [];
  if (['9.5', '10.0', '10.2'].includes(version)) {
    if (top === 'flow-report') return 'yarn unit-flow';
    return part ? `yarn unit-${part} ${word}` : `yarn mocha ${word}`;
  }
  return version >= '3.0' && version <= '8.6'
    ? `yarn jest --no-colors ${word}`
    : `${mocha} --reporter json ${word}`;
});

const carbon = each((given, version) => {
  const file = given.replace(/\/__snapshots__\/.*\.js\.snap$/, '').split('__tests__')[0] ?? given;
  const tests = file.endsWith('.e2e.js') ? posix.dirname(file) : file;
  return `yarn test --maxWorkers=${version === '12' ? 1 : 4} ${shellWord(tests)}`;
});

const prettier = each((given) => {
  const file = beforeSnapshots(given);
  const isTest = /jsfmt\.spec\.js$|\/__tests__\/|\/$/.test(file) && !file.endsWith('.md');
  return `yarn test ${shellWord(isTest ? file : posix.dirname(file))}`;
});

/**
 * The commands of repositories that need more than the names of test files appended to a command.
 */
export const testCommands = { django, prism, scratch, calypso, lighthouse, carbon, prettier };
