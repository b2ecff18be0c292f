import { join } from 'node:path';
import { temporary, write } from '../../testing/fixtures.js';
import { suiteNamed } from '../index.js';
import { logParserOf } from './parsers.js';
import { knownSpecs, specOf } from './specs.js';

const { folder, remove } = temporary();
afterAll(remove);

/** The repositories of Lite, Verified and Multimodal, with their dev splits. */
const repositories = {
  python:
    'astropy/astropy django/django marshmallow-code/marshmallow matplotlib/matplotlib mwaskom/seaborn pallets/flask psf/requests pvlib/pvlib-python pydata/xarray pydicom/pydicom pylint-dev/astroid pylint-dev/pylint pytest-dev/pytest pyvista/pyvista scikit-learn/scikit-learn sphinx-doc/sphinx sqlfluff/sqlfluff sympy/sympy',
  javascript:
    'Automattic/wp-calypso GoogleChrome/lighthouse PrismJS/prism alibaba-fusion/next bpmn-io/bpmn-js carbon-design-system/carbon chartjs/Chart.js diegomura/react-pdf eslint/eslint grommet/grommet highlightjs/highlight.js markedjs/marked openlayers/openlayers prettier/prettier processing/p5.js quarto-dev/quarto-cli scratchfoundation/scratch-gui',
};

it('knows an environment and a parser for every repository of Lite, Verified and Multimodal', () => {
  const specs = knownSpecs();
  const names = Object.values(repositories).flatMap((list) => list.split(' '));
  expect(new Set(specs.map(([repo]) => repo))).toEqual(new Set(names));
  for (const [repo, version, { environment, logParser }] of specs) {
    expect([repo, version, logParserOf(logParser)]).toEqual([repo, version, expect.any(Function)]);
    const how = 'python' in environment ? environment.python : environment.node;
    expect([repo, version, environment.needs ?? how]).toEqual([
      repo,
      version,
      expect.stringMatching(/./),
    ]);
  }
});

const patch = (...paths: string[]) =>
  paths
    .map(
      (path) =>
        `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`,
    )
    .join('');

const classic = (repo: string, version: string, test_patch: string, more: object = {}) => ({
  repo,
  instance_id: `${repo.replace('/', '__')}-1`,
  base_commit: 'a'.repeat(40),
  patch: '',
  test_patch,
  problem_statement: 'It is wrong.',
  hints_text: '',
  version,
  FAIL_TO_PASS: '["test_a (basic.tests.One)"]',
  PASS_TO_PASS: '[]',
  environment_setup_commit: 'b'.repeat(40),
  ...more,
});

let files = 0;
/** The task of a line, read together with a valid one. */
function taskOf(line: object) {
  const sound = classic('psf/requests', '2.31', patch('tests/test_a.py'), { instance_id: 'sound' });
  const path = join(folder, `${++files}.jsonl`);
  write(folder, {
    [`${files}.jsonl`]: [sound, line].map((each) => `${JSON.stringify(each)}\n`).join(''),
  });
  const task = suiteNamed('swe-bench').read(path)[1]!;
  const script = task.steps[0]?.verifier.files.find((file) => file.path === '/verify/eval.sh');
  return { ...task, script: script?.bytes.toString() ?? '' };
}

it('makes the script that SWE-Bench would make, for a test patch that must apply', () => {
  const tests = patch('tests/basic/tests.py', 'tests/basic/data.json', 'tests/new.py');
  const task = taskOf(classic('django/django', '4.2', tests));
  expect(task.script).toContain(
    './tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 basic.tests new\n',
  );
  expect(task.script).toMatch(/git apply -v - <<'EOF_\d+' \|\| exit 96\n/);
  expect(task.script.indexOf('Start Test Output')).toBeGreaterThan(task.script.indexOf('+b'));
  expect(task.environment.image).toMatchObject({
    kind: 'repository',
    image: 'swebench/sweb.eval.x86_64.django_1776_django-1:latest',
    python: { python: '3.9', requirements: ['tests/requirements/py3.txt'] },
    needs: null,
  });
  expect(task).toMatchObject({ unsupported: null, tests: { type: 'pass_and_fail' } });
  // Some tests call other hosts; the agent gets no network in any case.
  expect([task.environment.network, task.steps[0]?.verifier.network]).toEqual(['none', 'bridge']);
});

it.each([
  [
    'pytest-dev/pytest',
    '8.0',
    ['testing/test a.py', 'testing/x.txt'],
    "pytest -rA 'testing/test a.py'",
  ],
  [
    'PrismJS/prism',
    '1.24',
    ['tests/languages/c++/a.test'],
    'mocha tests/run.js --reporter json --language',
  ],
  ['markedjs/marked', '4.0', ['test/specs/new/a.md'], 'jasmine --no-color --config=jasmine.json'],
  [
    'GoogleChrome/lighthouse',
    '5.6',
    ['core/test/a-test.js'],
    'yarn jest --no-colors core/test/a-test.js',
  ],
  ['GoogleChrome/lighthouse', '10.0', ['cli/test/a-test.js'], 'yarn unit-cli cli/test/a-test.js'],
  ['prettier/prettier', '2.3', ['tests/x/__snapshots__/a.snap'], 'yarn test tests/x'],
  [
    'Automattic/wp-calypso',
    '10.9.0',
    ['client/a/test/index.js', 'client/a/b.js'],
    'jest --verbose -c=$CFG client/a/test/index.js\n',
  ],
])('%s %s runs the tests of its patch', (repo, version, paths, command) => {
  const { script, unsupported } = taskOf(classic(repo, version, patch(...paths)));
  expect([unsupported, script]).toEqual([null, expect.stringContaining(command)]);
});

it.each([
  ['astropy/astropy', '1.3', 'pytest -rA -vv -o console_output_style=classic --tb=no'],
  ['Automattic/wp-calypso', '10.9.0', 'jest --verbose -c=$CFG'],
])('%s runs a moved test by its new name only, and restores both', (repo, version, command) => {
  const [before, after] = ['client/a/test/old.js', 'client/a/test/new.js'];
  const moved = `diff --git a/${before} b/${after}\nsimilarity index 90%\nrename from ${before}\nrename to ${after}\n--- a/${before}\n+++ b/${after}\n@@ -1 +1 @@\n-a\n+b\n`;
  const { script, steps } = taskOf(classic(repo, version, moved));
  const run = script.slice(script.indexOf('Start Test Output'));
  expect(run).toContain(`${command} ${after}\n`);
  expect(run).not.toContain(before);
  const hidden = steps[0]?.verifier.files.find(({ path }) => path === '/verify/hidden');
  expect(hidden?.bytes.toString().split('\0')).toEqual(expect.arrayContaining([before, after]));
});

it('runs the whole suite in Python if the test patch names no test', () => {
  const { script, unsupported } = taskOf(
    classic('django/django', '4.2', patch('tests/validators/invalid_urls.txt')),
  );
  expect(unsupported).toBeNull();
  expect(script).toContain('--settings=test_sqlite --parallel 1\n');
  expect(taskOf(classic('pallets/flask', '2.3', patch('a.json'))).script).toContain(
    '\npytest -rA\n',
  );
});

it('installs Matplotlib with its tools for development from 3.8 on', () => {
  const install = (version: string) => specOf('matplotlib/matplotlib', version)?.environment;
  expect(install('3.8')).toMatchObject({ install: expect.stringContaining("'.[dev]'") });
  expect(install('3.7')).toMatchObject({ install: 'python -m pip install -e .' });
});

it.each([
  ['PrismJS/prism', '1.24', 'tests/languages/a!+b/x.test', "--language 'a!+b'\n"],
  ['django/django', '4.2', 'tests/a$(b)/c.py', "--parallel 1 'a$(b).c'\n"],
  ['pallets/flask', '2.3', 'tests/a b.py', "pytest -rA 'tests/a b.py'\n"],
])('%s: a path with characters of the shell becomes one word', (repo, version, path, command) => {
  expect(taskOf(classic(repo, version, patch(path))).script).toContain(command);
});

it('keeps a line’s own script and parser', () => {
  const own = { eval_script: '#!/bin/bash\ntrue\n', log_parser: 'parse_log_pytest' };
  const task = taskOf(classic('django/django', '4.2', '', own));
  expect(task.script).toBe(own.eval_script);
  expect(task.environment.image).toMatchObject({ image: null, node: null });
});

it.each([
  [classic('own/thing', '1.0', ''), /there is no known environment for own\/thing 1\.0\.$/],
  [classic('chartjs/Chart.js', '4.0', patch('test/a.js')), /need a browser of its time/],
  [classic('scratchfoundation/scratch-gui', '5', ''), /need files that its test patch/],
  [
    classic(
      'pallets/flask',
      '2.3',
      `${patch('tests/a.py')}Binary files a/x.png and b/x.png differ\n`,
    ),
    /test patch has binary files/,
  ],
  [
    classic('a/b', '', '', { eval_script: 'true', log_parser: 'none' }),
    /There is no parser called none/,
  ],
])('gives the reason in one sentence why a line cannot be run', (line, sentence) => {
  expect(taskOf(line).unsupported).toMatch(sentence);
});
