import { posix } from 'node:path';
import { versions, type RepositorySpec, type SpecsByVersion } from '../repository-spec.js';

const yarn = 'packages that yarn or pnpm installs';
const browser = 'a browser of its time and a display';

/** A command for each test file, in order and once. */
const each =
  (command: (file: string, version: string) => string | null) =>
  (files: string[], version: string): string[] =>
    [...new Set(files.flatMap((file) => command(file, version) ?? []))].toSorted();

const beforeSnapshots = (file: string) => file.split('__snapshots__')[0] ?? file;
const run = (command: string) => () => [command];

/** In a browser: SWE-Bench's images and scripts run these, and nothing else does. */
const inBrowser = (logParser: string, evalType: RepositorySpec['evalType'], names: string) =>
  versions(names, () => ({
    environment: { node: '', needs: browser },
    test: () => [],
    logParser: `parse_log_${logParser}`,
    evalType,
  }));

const mocha = './node_modules/.bin/mocha';
const prismTests = each((file) => {
  if (file.startsWith('tests/languages'))
    return `${mocha} tests/run.js --reporter json --language ${file.split('/')[2]}`;
  return file === 'tests/core/greedy.js' ? `${mocha} tests/core/**/*.js --reporter json` : null;
});
const prism = (node: string) => (): RepositorySpec => ({
  environment: { node },
  test: (files, version) => {
    const found = prismTests(files, version);
    return found.length > 0 ? found : [`${mocha} tests/run.js --reporter json`];
  },
  logParser: 'parse_log_prismjs',
});

const marked = (node: string) => (): RepositorySpec => ({
  environment: { node },
  test: run('./node_modules/.bin/jasmine --no-color --config=jasmine.json'),
  logParser: 'parse_log_marked',
  evalType: 'fail_only',
});

const eslint = (node: string) => (): RepositorySpec => ({
  environment: { node },
  test: run(
    `${mocha} --forbid-only --reporter min -t 10000 --no-colors "tests/{bin,conf,lib,tools}/**/*.js"`,
  ),
  logParser: 'parse_log_eslint',
  evalType: 'fail_only',
});

const scratch = (node: string) => (): RepositorySpec => ({
  environment: { node },
  test: each(
    (file) =>
      `./node_modules/.bin/jest --runInBand --no-colors --forceExit --testPathIgnorePatterns='test/integration' --testPathIgnorePatterns='vm-manager-hoc' ${beforeSnapshots(file)}`,
  ),
  logParser: 'parse_log_scratch_gui',
});

/** Only files that Jest collects; a snapshot is checked by the test beside it. */
const calypso = each((given) => {
  const file = given.replace('__snapshots__/', '').replace(/\.snap$/, '');
  return /\/test\/[^/]+\.jsx?$/.test(file)
    ? `CFG=test/client/jest.config.json; [ -f $CFG ] || CFG=test/client/jest.config.js; ./node_modules/.bin/jest --verbose -c=$CFG ${file}`
    : null;
});

const lighthouse = each((given, version) => {
  if (/\.(html|json|md|txt)$/.test(given) || given.includes('smokehouse')) return null;
  const short = beforeSnapshots(given).replace(/\/$/, '');
  const file = /(?<!-test)\.js$/.test(short) ? posix.dirname(short) : short;
  const [top = ''] = file.split('/');
  const [, part] = /^(?:lighthouse-)?(report|cli|treemap|viewer)$/.exec(top) ?? [];
  if (['9.5', '10.0', '10.2'].includes(version)) {
    if (top === 'flow-report') return 'yarn unit-flow';
    return part ? `yarn unit-${part} ${file}` : `yarn mocha ${file}`;
  }
  return version >= '3.0' && version <= '8.6'
    ? `yarn jest --no-colors ${file}`
    : `${mocha} --reporter json ${file}`;
});

const carbon = each((given, version) => {
  const file = given.replace(/\/__snapshots__\/.*\.js\.snap$/, '').split('__tests__')[0] ?? given;
  const place = file.endsWith('.e2e.js') ? posix.dirname(file) : file;
  return `yarn test --maxWorkers=${version === '12' ? 1 : 4} ${place}`;
});

const prettier = each((given) => {
  const file = beforeSnapshots(given);
  const isTest = /jsfmt\.spec\.js$|\/__tests__\/|\/$/.test(file) && !file.endsWith('.md');
  return `yarn test ${isTest ? file : posix.dirname(file)}`;
});

const withYarn = (logParser: string, names: string, test: RepositorySpec['test']): SpecsByVersion =>
  versions(names, () => ({
    environment: { node: '', needs: yarn },
    test,
    logParser: `parse_log_${logParser}`,
  }));

export const javascriptSpecs: Record<string, SpecsByVersion> = {
  'markedjs/marked': {
    ...versions('0.3 0.5 0.6 0.7 1.0 1.1 1.2 2.0 3.9', marked('12.22.12')),
    ...versions('4.0 4.1 5.0', marked('20.16.0')),
  },
  'PrismJS/prism': {
    ...versions('1.15', prism('4.9.1')),
    ...versions('1.16 1.17', prism('21.6.2')),
    ...versions('1.19 1.20', prism('8.17.0')),
    ...versions('1.22 1.23', prism('10.24.1')),
    ...versions('1.24 1.25 1.27 1.28', prism('12.22.12')),
  },
  'eslint/eslint': {
    ...versions(
      '0.20 0.24 0.3 0.5 1.0 1.1 1.10 1.5 1.7 1.9 2.0 2.10 2.12 2.13 2.5 3.1 3.11',
      eslint('4.9.1'),
    ),
    ...versions('3.16 3.5 4.1 4.7 4.9 5.14 6.6 6.7 7.18 7.22', eslint('10.24.1')),
    ...versions('8.1 8.50', eslint('21.6.2')),
  },
  'highlightjs/highlight.js': versions(
    '10.0 10.2 10.3 10.4 10.5 10.6 11.0 11.2 11.3 11.4 11.5 11.6 8.4 8.9 9.13 9.15 9.16 9.17 9.18',
    () => ({
      environment: { node: '21.6.2' },
      test: () => ['npm run build', 'npm run test'],
      logParser: 'parse_log_highlightjs',
    }),
  ),
  'scratchfoundation/scratch-gui': {
    ...versions('1 2 5 8', scratch('20.16.0')),
    ...versions('3 4', scratch('12.22.12')),
  },
  'Automattic/wp-calypso': versions(
    '0.8 4.2.3 4.3.0 5.10.1 5.11.1 6.1.0 6.7.0 6.9.0 6.9.1 6.9.4 6.10.0 6.10.2 6.10.3 6.11.1 6.11.2 6.11.5 8.9.1 8.9.3 8.9.4 8.11.0 8.11.2 10.4.1 10.5.0 10.6.0 10.9.0 10.10.0 10.12.0 10.13.0 10.14.0 10.15.2 10.16.3',
    (node) => ({
      environment: { node, needs: 'packages that are compiled by their own scripts' },
      test: calypso,
      logParser: 'parse_log_calypso',
    }),
  ),
  'diegomura/react-pdf': {
    ...withYarn(
      'react_pdf',
      '2.0',
      run('NODE_OPTIONS="--experimental-vm-modules" ./node_modules/.bin/jest --no-color'),
    ),
    ...withYarn('react_pdf', '1.0 1.1 1.2', run('./node_modules/.bin/jest --no-color')),
  },
  'GoogleChrome/lighthouse': withYarn(
    'lighthouse',
    '1.0 1.1 1.2 1.4 1.5 1.6 2.0 2.1 2.3 2.4 2.5 2.6 2.7 2.8 2.9 3.0 3.1 3.2 4.0 4.1 5.0 5.1 5.2 5.6 6.0 6.1 6.3 6.4 6.5 7.0 8.0 8.2 8.3 8.6 9.5 10.0 10.2',
    lighthouse,
  ),
  'carbon-design-system/carbon': withYarn(
    'carbon',
    '7.2 10 12 14 14.17 16.13 16.14 16.15 16.16 16.17 16.18 16.19 18.14 18.15 18.16 18.17 20.9 20.11 20.12 20.14',
    carbon,
  ),
  'grommet/grommet': withYarn(
    'grommet',
    '1.7 2.0 2.3 2.6 2.7 2.11 2.13 2.14 2.15 2.16 2.17 2.18 2.19 2.20 2.21 2.22 2.25 2.26 2.27 2.29 2.31 2.33 2.34',
    run('yarn test'),
  ),
  'prettier/prettier': withYarn(
    'prettier',
    '0.0 0.11 0.13 0.15 0.16 0.20 1.11 1.4 1.5 1.6 1.7 1.8 2.1 2.2 2.3 2.6 2.9 3.0 3.3 3.4',
    prettier,
  ),
  'chartjs/Chart.js': inBrowser(
    'chart_js',
    'fail_only',
    '2.0 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 4.0 4.1 4.2 4.3 4.4',
  ),
  'processing/p5.js': inBrowser(
    'p5js',
    'fail_only',
    '0.10 0.2 0.4 0.5 0.6 0.7 0.8 0.9 1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9',
  ),
  'bpmn-io/bpmn-js': inBrowser(
    'bpmn_js',
    'fail_only',
    '0.27 0.9 2.3 2.4 2.5 3.0 3.3 3.4 4.0 5.0 5.1 6.0 6.3 7.2 7.3 7.4 8.3 8.8 8.9 9.0 9.1 9.2 9.3 11.1 11.3 13.2 14.0 15.2',
  ),
  'openlayers/openlayers': inBrowser(
    'openlayers',
    'fail_only',
    '4.3 4.4 4.5 4.6 5.1 5.2 5.3 6.1 6.2 6.3 6.4 6.5 6.5.1 6.6 6.9 6.10 6.11 6.12 6.13 6.14 7.0 7.1 7.2 7.3 7.4 7.5 8.1 9.0 9.1',
  ),
  'alibaba-fusion/next': inBrowser(
    'next',
    'pass_and_fail',
    '1.11 1.14 1.15 1.16 1.17 1.18 1.19 1.20 1.21 1.22 1.23 1.24 1.25 1.26 1.27',
  ),
  'quarto-dev/quarto-cli': {
    '': {
      environment: { node: '', needs: 'TeX Live, R and Julia' },
      test: () => [],
      logParser: 'parse_log_quarto_cli',
    },
  },
};
