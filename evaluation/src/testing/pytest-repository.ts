import type { TestRepository } from './test-repository.js';

/** A repository tested by pytest, whose tests call `twice`. */
export const pytestRepository: TestRepository = {
  test: [
    'tests/test_thing.py',
    'from thing import twice\n\n\ndef test_small():\n    assert twice(4) == 8\n\n\ndef test_large():\n    assert twice(40) == 80\n',
  ],
  solution: ['thing.py', 'def twice(n): return 0\n', 'def twice(n): return 2 * n\n'],
  parser: 'parse_log_pytest',
  run: 'PYTHONPATH=. python3 -m pytest -rA tests/test_thing.py',
  failing: ['tests/test_thing.py::test_small', 'tests/test_thing.py::test_large'],
};
