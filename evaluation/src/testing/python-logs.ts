import type { TestResults } from '../suites/test-log.js';
import { forParsers, type RepositoryLog } from './repository-log.js';

const pytestLog = `collected 5 items

tests/test_a.py .Fs.x                                                    [100%]

=========================== short test summary info ============================
PASSED tests/test_a.py::test_one
PASSED tests/test_a.py::test_path[/tmp/pytest-0/data/file.txt-1]
SKIPPED [1] tests/test_a.py:9: not here
XFAIL tests/test_a.py::test_known - reason
FAILED tests/test_a.py::test_two - AssertionError: assert 1 == 2
ERROR tests/test_b.py
=================== 1 failed, 2 passed, 1 skipped in 0.03s ====================
`;

const inPytest: TestResults = {
  'tests/test_a.py::test_one': 'PASSED',
  'tests/test_a.py::test_path[/tmp/pytest-0/data/file.txt-1]': 'PASSED',
  'tests/test_a.py::test_known': 'XFAIL',
  'tests/test_a.py::test_two': 'FAILED',
  'tests/test_b.py': 'ERROR',
};

const optionsLog = `PASSED tests/test_io.py::test_read[/data/files/one.dcm]
PASSED tests/test_io.py::test_url[//host/x]
PASSED tests/test_io.py::test_glob[/a/*/b]
FAILED tests/test_io.py::test_pair[a-b] - ValueError
PASSED tests/test_io.py::test_plain
`;

const inOptions: TestResults = {
  'tests/test_io.py::test_read[/one.dcm]': 'PASSED',
  'tests/test_io.py::test_url[//host/x]': 'PASSED',
  'tests/test_io.py::test_glob[/a/*/b]': 'PASSED',
  'tests/test_io.py::test_pair[a-b]': 'FAILED',
  'tests/test_io.py::test_plain': 'PASSED',
};

const longLog = `\u001b[32mPASSED\u001b[0m sklearn/tests/test_a.py::\u001b[1mtest_fit[not a word]\u001b[0m
\u001b[31mFAILED\u001b[0m sklearn/tests/test_a.py::\u001b[1mtest_score\u001b[0m - assert 0.1 == 0.2
SKIPPED [2] sklearn/conftest.py:12: no network
astropy/io/tests/test_old.py::test_write[x] PASSED
astropy/io/tests/test_old.py::test_read FAILED
trailing PASSED 
`;

const inLong: TestResults = {
  'sklearn/tests/test_a.py::test_fit[not a word]': 'PASSED',
  'sklearn/tests/test_a.py::test_score': 'FAILED',
  'astropy/io/tests/test_old.py::test_write[x]': 'PASSED',
  'astropy/io/tests/test_old.py::test_read': 'FAILED',
};

export const pythonLogs: RepositoryLog[] = [
  ...forParsers(
    ['pytest', 'astroid', 'flask', 'marshmallow', 'pvlib', 'pyvista', 'sqlfluff', 'xarray'],
    pytestLog,
    inPytest,
  ),
  ...forParsers(['pytest_options', 'pydicom', 'requests', 'pylint'], optionsLog, inOptions),
  ...forParsers(['pytest_v2', 'astropy', 'scikit', 'sphinx'], longLog, inLong),
  {
    parser: 'parse_log_matplotlib',
    log: 'PASSED lib/matplotlib/tests/test_widgets.py::test_zoom[MouseButton.LEFT-3]\nFAILED lib/x.py::test_b[MouseButton.RIGHT] - no\n',
    tests: {
      'lib/matplotlib/tests/test_widgets.py::test_zoom[1-3]': 'PASSED',
      'lib/x.py::test_b[3]': 'FAILED',
    },
  },
  {
    parser: 'parse_log_seaborn',
    log: 'PASSED tests/test_a.py::test_one\nFAILED tests/test_a.py::test_two - ValueError\ntests/test_a.py::test_three PASSED  [ 50%]\nPASSED\n',
    tests: {
      'tests/test_a.py::test_one': 'PASSED',
      'tests/test_a.py::test_two': 'FAILED',
      'tests/test_a.py::test_three': 'PASSED',
    },
  },
  {
    parser: 'parse_log_sympy',
    log: `sympy/core/tests/test_x.py[4]
test_add ok
test_mul F
test_pow E
test_slow Slow
test_known f                                                         [FAIL]

________________________________________________________________________________
__________________ sympy/core/tests/test_x.py:test_mul ___________________
Traceback (most recent call last):
`,
    tests: {
      test_add: 'PASSED',
      test_mul: 'FAILED',
      test_pow: 'ERROR',
      'sympy/core/tests/test_x.py:test_mul': 'FAILED',
    },
  },
  {
    parser: 'parse_log_django',
    log: `Testing against Django installed in '/testbed/django' with up to 1 processes
test_a (admin.tests.One) ... ok
test_b (admin.tests.One) ... skipped 'no such thing'
test_c (admin.tests.One) ... FAIL
test_d (admin.tests.One)
A sentence about it. ... ERROR
test_e (admin.tests.One) ... expected failure
test_f (admin.tests.One) ... Internal Server Error: /raises/
ok
test_g (admin.tests.Two) ... Testing against Django installed in '/testbed/django'
Operations to perform:
  Running ... things
System check identified no issues (0 silenced).
ok
Applying sites.0002_alter_domain_unique...test_no_migrations (m.tests.M) ... ok
FAIL: test_c (admin.tests.One)
ERROR: test_h (admin.tests.One)
`,
    tests: {
      'test_a (admin.tests.One)': 'PASSED',
      'test_b (admin.tests.One)': 'SKIPPED',
      'test_c (admin.tests.One)': 'FAILED',
      'A sentence about it.': 'ERROR',
      'test_f (admin.tests.One)': 'PASSED',
      Running: 'PASSED',
      'test_no_migrations (m.tests.M)': 'PASSED',
      test_c: 'FAILED',
      test_h: 'ERROR',
      'test_g (admin.tests.Two)': 'PASSED',
    },
  },
];
